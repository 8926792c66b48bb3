/* Convolution of 8-bit integers on blocks of channels, with the same bands and pieces as blocked_convolution.h.
 * Elements of x are unsigned and those of the weights signed; others are shifted by 128, and so are their zero
 * points. With these sum (x - zx)(w - zw) = sum xw - zx sum w - zw (sum x - n zx), and padding counts as zx. */
#pragma once
#include "blocked_band.h"
#include "integer_blocked_tile.h"
#include "window_span.h"

/* Copies one row of pixels of 16 bytes, every `stride`-th from column `x`, as unsigned; pixels outside are `fill`. */
static void integer_copy_pixels(
  const ck_window *w, const uint8_t *plane, ptrdiff_t y, ptrdiff_t x, uint8_t *to, size_t count, uint8_t flip,
  uint8_t fill) {
  ptrdiff_t width = (ptrdiff_t)w->width, stride = (ptrdiff_t)w->stride_x, n = (ptrdiff_t)count;
  window_span inside = window_inside(w, y, x, n);
  __m128i flips = _mm_set1_epi8((char)flip), fills = _mm_set1_epi8((char)fill);
  __m128i *target = (__m128i *)to;
  ptrdiff_t i = 0;
  for (; i < inside.before; i++) _mm_storeu_si128(target + i, fills);
  const uint8_t *from = plane + (y * width + x) * CK_LANES;
  for (; i < inside.end; i++)
    _mm_storeu_si128(
      target + i, _mm_xor_si128(_mm_loadu_si128((const __m128i *)(from + i * stride * CK_LANES)), flips));
  for (; i < n; i++) _mm_storeu_si128(target + i, fills);
}

/* The same for up to four planes, whose elements become the bytes of words. */
static void integer_copy_words(
  const ck_window *w, const uint8_t *planes, size_t channels, ptrdiff_t y, ptrdiff_t x, uint8_t *to, size_t count,
  uint8_t flip, uint8_t fill) {
  ptrdiff_t width = (ptrdiff_t)w->width, stride = (ptrdiff_t)w->stride_x, n = (ptrdiff_t)count;
  size_t area = w->height * w->width;
  window_span inside = window_inside(w, y, x, n);
  uint32_t fills = 0x01010101u * fill, flips = 0x01010101u * flip;
  ptrdiff_t i = 0;
  for (; i < inside.before; i++) memcpy(to + 4 * i, &fills, 4);
  ptrdiff_t start = y * width + x;
  /* Sixteen elements of each plane, of which all or every other are used. */
  for (ptrdiff_t step = 16 / stride; stride <= 2 && i + step <= inside.end && start + i * stride + 16 <= (ptrdiff_t)area;
       i += step) {
    __m128i planar[4];
    for (size_t c = 0; c < 4; c++)
      planar[c] = c < channels
        ? _mm_loadu_si128((const __m128i *)(planes + start + i * stride + (ptrdiff_t)(c * area))) : _mm_setzero_si128();
    __m128i low01 = _mm_unpacklo_epi8(planar[0], planar[1]), high01 = _mm_unpackhi_epi8(planar[0], planar[1]);
    __m128i low23 = _mm_unpacklo_epi8(planar[2], planar[3]), high23 = _mm_unpackhi_epi8(planar[2], planar[3]);
    __m512i all = _mm512_castsi128_si512(_mm_unpacklo_epi16(low01, low23));
    all = _mm512_inserti32x4(all, _mm_unpackhi_epi16(low01, low23), 1);
    all = _mm512_inserti32x4(all, _mm_unpacklo_epi16(high01, high23), 2);
    all = _mm512_inserti32x4(all, _mm_unpackhi_epi16(high01, high23), 3);
    all = _mm512_xor_si512(all, _mm512_set1_epi32((int)flips));
    if (stride == 1) _mm512_storeu_si512(to + 4 * i, all);
    else _mm256_storeu_si256((__m256i *)(to + 4 * i), _mm512_cvtepi64_epi32(all));
  }
  for (; i < inside.end; i++) {
    uint32_t word = 0;
    for (size_t c = 0; c < channels; c++) word |= (uint32_t)planes[start + i * stride + (ptrdiff_t)(c * area)] << (8 * c);
    word ^= flips;
    memcpy(to + 4 * i, &word, 4);
  }
  for (; i < n; i++) memcpy(to + 4 * i, &fills, 4);
}

/* Fills a band of one block, or of all planes. */
static void integer_fill_band(
  const ck_integer_blocked_args *c, const blocked_band *band, const uint8_t *x, size_t first, uint8_t *to, uint8_t flip,
  uint8_t fill) {
  const ck_window *w = &c->window;
  size_t size = c->is_planar ? 4 : CK_LANES;
  for (size_t row = 0; row < band->rows; row++)
    for (size_t phase = 0; phase < w->stride_x; phase++) {
      ptrdiff_t y = (ptrdiff_t)(first * w->stride_y + row) - (ptrdiff_t)w->before_y;
      ptrdiff_t column = (ptrdiff_t)phase - (ptrdiff_t)w->before_x;
      uint8_t *at = to + (row * band->row + phase * band->pitch) * size;
      if (c->is_planar) integer_copy_words(w, x, c->in_channels, y, column, at, band->pitch, flip, fill);
      else integer_copy_pixels(w, x, y, column, at, band->pitch, flip, fill);
    }
}

/* The sum of all elements that a pixel reads, less the contribution of zero points. */
static uint32_t integer_pixel_sum(const integer_blocked_tile *t, const uint8_t *pixel, size_t channels, uint32_t zero) {
  uint32_t sum = 0;
  for (size_t group = 0, left = channels; group < t->groups; group++) {
    size_t count = integer_min(left, 4 * t->group_words);
    for (size_t tap = 0; tap < t->tap_count; tap++) {
      const uint8_t *a = pixel + group * t->plane + t->taps[tap];
      for (size_t i = 0; i < count; i++) sum += a[i];
    }
    left -= count;
  }
  return sum - (uint32_t)(channels * t->tap_count) * zero;
}

/* Computes `count` rows of `width` pixels that follow each other in the result, from `y` on, of one output block or
 * two. */
static void integer_blocked_rows(
  const ck_integer_blocked_args *c, integer_blocked_tile *t, const uint8_t *x, size_t x_row, size_t count, size_t width,
  uint8_t *y, size_t vectors, bool crosses, uint32_t zero) {
  size_t step = c->is_planar ? 4 : CK_LANES;
  bool pairs = 2 * width <= integer_pixels;
  size_t pieces = (width + integer_pixels - 1) / integer_pixels, size = (width + pieces - 1) / pieces;
  uint32_t sums[integer_pixels];
  t->run = x_row;
  t->y_run = width * CK_LANES;
  t->pixel_sums = crosses ? sums : NULL;
  for (size_t row = 0; row < count;) {
    size_t runs = pairs && row + 1 < count ? 2 : 1;
    for (size_t column = 0; column < width; column += size) {
      size_t pixels = integer_min(size, width - column);
      t->x = x + row * x_row + column * step;
      t->y = y + (row * width + column) * CK_LANES;
      if (crosses)
        for (size_t p = 0; p < runs * pixels; p++)
          sums[p] = integer_pixel_sum(t, t->x + p / pixels * x_row + p % pixels * step, c->in_channels, zero);
      integer_blocked_tiles[runs - 1][pixels - 1][c->is_planar][vectors - 1](t);
    }
    row += runs;
  }
}

/* Sets the requantization of channels from `first` on; returns whether zero points of their weights are not all
 * zero. */
static bool integer_block_of(
  const ck_requantization *o, const ck_integer_operand *weights, const uint32_t *sums, size_t first, size_t channels,
  uint32_t x_zero, integer_block *block) {
  bool crosses = false;
  *block = (integer_block){0};
  for (size_t lane = 0; lane < CK_LANES && first + lane < channels; lane++) {
    size_t channel = first + lane;
    int32_t zero = integer_value(weights->zero + channel * weights->zero_step, weights->is_signed) +
      integer_shift(weights->is_signed, false);
    block->add[lane] = (o->bias ? (uint32_t)o->bias[channel] : 0) - x_zero * sums[lane];
    block->factor[lane] = (uint32_t)zero;
    block->scale[lane] = o->scale[channel * o->scale_step];
    crosses = crosses || zero != 0;
  }
  return crosses;
}

static void CK_NAME(ck_i8_blocked_convolution)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_integer_blocked_args *c = args;
  const ck_window *w = &c->window;
  size_t area = w->height * w->width, out_area = w->out_height * w->out_width;
  size_t extent = c->copies ? w->out_height : out_area, bands = (extent + c->band - 1) / c->band;
  size_t out_blocks = (c->out_channels + CK_LANES - 1) / CK_LANES;
  size_t pieces = (out_blocks + c->block_chunk - 1) / c->block_chunk;
  size_t size = c->is_planar ? 4 : CK_LANES, groups = (c->in_channels + size - 1) / size;
  size_t last_words = (c->in_channels - (groups - 1) * size + 3) / 4;
  uint8_t flip = c->x.is_signed ? 0x80 : 0;
  uint8_t zero = *c->x.zero ^ flip;
  integer_block blocks[integer_pair];
  integer_blocked_tile t = {
    .groups = groups,
    .group_words = size / 4,
    .last_words = last_words,
    .taps = c->taps,
    .tap_count = w->kernel_height * w->kernel_width,
    .y_block = out_area * CK_LANES,
    .blocks = blocks,
    .range = integer_range_of(&c->output, c->out_channels),
  };
  /* The words of a block of outputs, without the sums. */
  size_t words = ((groups - 1) * t.group_words + last_words) * t.tap_count;
  size_t filled = SIZE_MAX;
  for (size_t item = begin; item < end; item++) {
    size_t piece = item % pieces, first = item / pieces % bands * c->band, image = item / pieces / bands;
    size_t count = integer_min(c->band, extent - first);
    const uint8_t *x = c->x.data + image * (c->is_planar ? c->in_channels : groups * size) * area;
    size_t x_row = 0, width = count, rows = 1, start = first;
    t.plane = area * size;
    if (c->copies) {
      blocked_band band = blocked_plan(w, count);
      x_row = band.row * w->stride_y * size;
      t.plane = band.rows * band.row * size;
      /* Items of one band follow each other. */
      if (filled != item / pieces)
        for (size_t group = 0; group < groups; group++)
          integer_fill_band(
            c, &band, x + group * area * size, first, (uint8_t *)scratch + group * t.plane, flip, zero);
      filled = item / pieces;
      x = scratch;
      width = w->out_width;
      rows = count;
      start = first * w->out_width;
    } else {
      x += first * size;
    }
    size_t last = integer_min((piece + 1) * c->block_chunk, out_blocks);
    for (size_t block = piece * c->block_chunk; block < last;) {
      size_t vectors = last - block > 1 ? 2 : 1;
      bool crosses = false;
      t.weights = c->packed + block * CK_LANES * (words + 1);
      for (size_t v = 0; v < vectors; v++) {
        const uint32_t *sums = t.weights + words * vectors * CK_LANES + v * CK_LANES;
        if (integer_block_of(
              &c->output, &c->weights, sums, (block + v) * CK_LANES, c->out_channels, zero, blocks + v))
          crosses = true;
      }
      uint8_t *y = (uint8_t *)c->y + (image * out_blocks + block) * t.y_block + start * CK_LANES;
      integer_blocked_rows(c, &t, x, x_row, rows, width, y, vectors, crosses, zero);
      block += vectors;
    }
  }
}
