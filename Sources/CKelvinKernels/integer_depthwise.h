/* Depthwise convolution of 8-bit integers. Rows become 16-bit differences from the zero point, zero for padding, so
 * that each word of two neighbours is multiplied by a pair of taps. */
#pragma once
#include "integer_pack.h"

enum { integer_band_elements = 16384, integer_step = 2 * CK_LANES };

typedef struct {
  /* The elements from row to row; the rows of one filling and the output rows computed from it. */
  size_t pitch, rows, out_rows;
  size_t pairs;
} integer_bands;

static integer_bands integer_plan(const ck_window *w) {
  size_t reach_x = (w->kernel_width - 1) * w->dilation_x, reach_y = (w->kernel_height - 1) * w->dilation_y;
  integer_bands bands = {.pairs = (w->kernel_width + 1) / 2};
  size_t columns = (w->out_width + integer_step - 1) / integer_step * integer_step;
  size_t padded = w->before_x + w->width + integer_step;
  bands.pitch = columns * w->stride_x + reach_x + 2;
  bands.pitch = (bands.pitch > padded ? bands.pitch : padded) + integer_step;
  size_t fitting = integer_band_elements / bands.pitch;
  size_t out_rows = fitting > reach_y ? (fitting - reach_y - 1) / w->stride_y + 1 : 1;
  out_rows = out_rows < 2 ? 2 : out_rows / 2 * 2;
  bands.out_rows = integer_min(out_rows, w->out_height);
  bands.rows = (bands.out_rows - 1) * w->stride_y + reach_y + 1;
  return bands;
}

static size_t CK_NAME(ck_i8_depthwise_scratch)(const ck_window *w) {
  integer_bands bands = integer_plan(w);
  return 4 * w->kernel_height * 2 * bands.pairs + 2 * bands.rows * bands.pitch + 64;
}

typedef uint8_t integer_bytes __attribute__((ext_vector_type(integer_step)));
typedef int8_t integer_signed_bytes __attribute__((ext_vector_type(integer_step)));
typedef int16_t integer_halves __attribute__((ext_vector_type(integer_step)));

/* Copies one row of the image. The band is already zero to the left and right of the row. */
static void integer_fill_row(
  const ck_window *w, const uint8_t *plane, size_t y, bool is_signed, int32_t zero, int16_t *to) {
  const uint8_t *from = plane + y * w->width, *end = plane + w->height * w->width;
  integer_halves zeros = (integer_halves)(int16_t)zero;
  for (size_t i = 0; i < w->width; i += integer_step) {
    integer_bytes bytes = 0;
    if ((size_t)(end - from) >= i + integer_step) memcpy(&bytes, from + i, integer_step);
    else memcpy(&bytes, from + i, (size_t)(end - from) - i);
    integer_halves x = is_signed ? __builtin_convertvector((integer_signed_bytes)bytes, integer_halves)
                                 : __builtin_convertvector(bytes, integer_halves);
    x -= zeros;
    memcpy(to + i, &x, sizeof x);
  }
  integer_halves none = 0;
  memcpy(to + w->width, &none, sizeof none);
}

typedef struct {
  const ck_window *window;
  integer_bands bands;
  const ck_requantization *output;
  integer_bounds bounds;
  float scale;
  uint32_t bias;
  void *result;
} integer_plane;

CK_INLINE void integer_store_row(const integer_plane *p, vw sum, size_t at, size_t n) {
  if (p->output->type == ck_int32) memcpy((int32_t *)p->result + at, &sum, n * sizeof(int32_t));
  else wstore_bytes((uint8_t *)p->result + at, integer_requantize(sum, vset(p->scale), p->bounds), n);
}

/* Stores the even and the odd columns of 2 * CK_LANES. */
CK_INLINE void integer_store_pairs(const integer_plane *p, vw even, vw odd, size_t at, size_t n) {
  if (p->output->type == ck_int32) {
    for (size_t i = 0; i < n; i++) ((uint32_t *)p->result)[at + i] = i % 2 ? odd[i / 2] : even[i / 2];
    return;
  }
  even = integer_requantize(even, vset(p->scale), p->bounds);
  odd = integer_requantize(odd, vset(p->scale), p->bounds);
  wstore_byte_pairs((uint8_t *)p->result + at, even, odd, n);
}

/* Computes `out_rows` rows of a window of neighbouring columns with a stride of 1 or 2. */
CK_INLINE void integer_rows_body(
  const integer_plane *p, const uint32_t *weights, const int16_t *band, size_t row, const size_t out_rows,
  const size_t height, const size_t pairs, const size_t stride) {
  const ck_window *w = p->window;
  size_t stride_y = w->stride_y, pitch = p->bands.pitch, dilation_y = w->dilation_y;
  size_t step = stride == 1 ? integer_step : CK_LANES;
  for (size_t x = 0; x < w->out_width; x += step) {
    vw even[2], odd[2];
#pragma clang loop unroll(full)
    for (size_t r = 0; r < out_rows; r++) even[r] = odd[r] = (vw)p->bias;
    const int16_t *from = band + x * stride;
    for (size_t ky = 0; ky < height; ky++)
      for (size_t pair = 0; pair < pairs; pair++) {
        vw tap = (vw)weights[ky * pairs + pair];
#pragma clang loop unroll(full)
        for (size_t r = 0; r < out_rows; r++) {
          const int16_t *at = from + (r * stride_y + ky * dilation_y) * pitch + 2 * pair;
          even[r] = wdot_pairs(even[r], wload(at), tap);
          if (stride == 1) odd[r] = wdot_pairs(odd[r], wload(at + 1), tap);
        }
      }
    size_t n = integer_min(step, w->out_width - x);
#pragma clang loop unroll(full)
    for (size_t r = 0; r < out_rows; r++) {
      size_t at = (row + r) * w->out_width + x;
      if (stride == 1) integer_store_pairs(p, even[r], odd[r], at, n);
      else integer_store_row(p, even[r], at, n);
    }
  }
}

CK_INLINE void integer_band_rows(
  const integer_plane *p, const uint32_t *weights, const int16_t *band, size_t row, size_t count, const size_t height,
  const size_t pairs, const size_t stride) {
  size_t step = p->window->stride_y * p->bands.pitch, r = 0;
  for (; r + 2 <= count; r += 2)
    integer_rows_body(p, weights, band + r * step, row + r, 2, height, pairs, stride);
  if (r < count) integer_rows_body(p, weights, band + r * step, row + r, 1, height, pairs, stride);
}

/* Computes one row of any window; `weights` has a tap in the low half of every word. */
static void integer_any_row(const integer_plane *p, const uint32_t *weights, const int16_t *band, size_t row) {
  const ck_window *w = p->window;
  for (size_t x = 0; x < w->out_width; x += CK_LANES) {
    vw sum = (vw)p->bias;
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++) {
        const int16_t *from = band + ky * w->dilation_y * p->bands.pitch + kx * w->dilation_x + x * w->stride_x;
        vi taps;
        for (size_t lane = 0; lane < CK_LANES; lane++) taps[lane] = from[lane * w->stride_x];
        sum += (vw)(taps * (vi)(int32_t)weights[ky * w->kernel_width + kx]);
      }
    integer_store_row(p, sum, row * w->out_width + x, integer_min(CK_LANES, w->out_width - x));
  }
}

static void CK_NAME(ck_i8_depthwise)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_integer_depthwise_args *d = args;
  const ck_window *w = &d->window;
  size_t multiplier = d->out_channels / d->in_channels, out_area = w->out_height * w->out_width;
  size_t taps = w->kernel_height * w->kernel_width;
  bool is_paired = w->dilation_x == 1 && w->stride_x <= 2;
  integer_plane plane = {
    .window = w, .bands = integer_plan(w), .output = &d->output, .bounds = integer_bounds_of(&d->output)};
  size_t pairs = plane.bands.pairs, pitch = plane.bands.pitch;
  uint32_t *weights = scratch;
  int16_t *band = (int16_t *)(weights + w->kernel_height * 2 * pairs);
  int32_t x_zero = integer_value(d->x.zero, d->x.is_signed);
  size_t element = d->output.type == ck_int32 ? 4 : 1;
  memset(band, 0, 2 * plane.bands.rows * pitch);
  for (size_t item = begin; item < end; item++) {
    size_t image = item / d->out_channels, channel = item % d->out_channels;
    int32_t zero = integer_value(d->weights.zero + channel * d->weights.zero_step, d->weights.is_signed);
    const uint8_t *from = d->weights.data + channel * taps;
    memset(weights, 0, 4 * w->kernel_height * 2 * pairs);
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++, from++) {
        uint32_t weight = (uint32_t)(integer_value(from, d->weights.is_signed) - zero);
        if (is_paired) weights[ky * pairs + kx / 2] |= kx % 2 ? weight << 16 : weight & 0xFFFF;
        else weights[ky * w->kernel_width + kx] = weight;
      }
    const uint8_t *x = d->x.data + (image * d->in_channels + channel / multiplier) * w->height * w->width;
    plane.bias = d->output.bias ? (uint32_t)d->output.bias[channel] : 0;
    plane.scale = d->output.scale ? d->output.scale[channel * d->output.scale_step] : 0;
    plane.result = (uint8_t *)d->y + item * out_area * element;
    for (size_t row = 0; row < w->out_height; row += plane.bands.out_rows) {
      size_t count = integer_min(w->out_height - row, plane.bands.out_rows);
      size_t rows = (count - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1;
      for (size_t r = 0; r < rows; r++) {
        size_t y = row * w->stride_y + r - w->before_y;
        /* With a single band, the same rows are padding for every channel. */
        if (y < w->height)
          integer_fill_row(w, x, y, d->x.is_signed, x_zero, band + r * pitch + w->before_x);
        else if (plane.bands.out_rows < w->out_height)
          memset(band + r * pitch, 0, 2 * pitch);
      }
      if (!is_paired) {
        for (size_t r = 0; r < count; r++)
          integer_any_row(&plane, weights, band + r * w->stride_y * pitch, row + r);
      } else if (w->kernel_height == 3 && pairs == 2) {
        if (w->stride_x == 1) integer_band_rows(&plane, weights, band, row, count, 3, 2, 1);
        else integer_band_rows(&plane, weights, band, row, count, 3, 2, 2);
      } else if (w->kernel_height == 5 && pairs == 3) {
        if (w->stride_x == 1) integer_band_rows(&plane, weights, band, row, count, 5, 3, 1);
        else integer_band_rows(&plane, weights, band, row, count, 5, 3, 2);
      } else {
        if (w->stride_x == 1) integer_band_rows(&plane, weights, band, row, count, w->kernel_height, pairs, 1);
        else integer_band_rows(&plane, weights, band, row, count, w->kernel_height, pairs, 2);
      }
    }
  }
}
