/* Convolution of 3 x 3 taps by Winograd's minimal filtering, on blocks of channels: tiles of 4 x 4 outputs, or 2 x
 * 2, are products of transformed tiles with transformed weights. */
#pragma once
#include "blocked_tile.h"
#include "ck_kernels.h"
#include "winograd_transform.h"

/* Transforms all input tiles of a band of one block of `channels` to [m + 2][m + 2] planes of `plane` words. */
CK_INLINE void winograd_transform_inputs(
  const ck_winograd_args *c, const size_t m, const float *x, size_t channels, size_t first_row, size_t rows,
  size_t columns, float *v, size_t plane) {
  const size_t n = m + 2;
  const ck_window *w = &c->window;
  static const vf zero = {0};
  vmask mask = vmask_range(0, (ptrdiff_t)channels);
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < columns; column++, v += unit_lanes) {
      ptrdiff_t top = (ptrdiff_t)((first_row + row) * m) - (ptrdiff_t)w->before_y;
      ptrdiff_t left = (ptrdiff_t)(column * m) - (ptrdiff_t)w->before_x;
      vf d[36], t[36];
      bool is_inside = top >= 0 && left >= 0 && top + (ptrdiff_t)n <= (ptrdiff_t)w->height &&
        left + (ptrdiff_t)n <= (ptrdiff_t)w->width;
      const float *from = x + (top * (ptrdiff_t)w->width + left) * CK_LANES;
#pragma clang loop unroll(full)
      for (size_t i = 0; i < n; i++)
#pragma clang loop unroll(full)
        for (size_t j = 0; j < n; j++) {
          bool is_there = is_inside || (top + (ptrdiff_t)i >= 0 && top + (ptrdiff_t)i < (ptrdiff_t)w->height &&
                                        left + (ptrdiff_t)j >= 0 && left + (ptrdiff_t)j < (ptrdiff_t)w->width);
          d[i * n + j] = is_there ? packed_load_numbers(from + (i * w->width + j) * CK_LANES, mask) : zero;
        }
#pragma clang loop unroll(full)
      for (size_t j = 0; j < n; j++) winograd_input_line(m, d + j, n, t + j, n);
#pragma clang loop unroll(full)
      for (size_t i = 0; i < n; i++) {
        vf line[6];
        winograd_input_line(m, t + i * n, 1, line, 1);
#pragma clang loop unroll(full)
        for (size_t j = 0; j < n; j++) packed_store(v + (i * n + j) * plane, line[j]);
      }
    }
}

/* Some tiles of one block of outputs. */
typedef struct {
  /* [m + 2][m + 2] planes of `plane` floats. */
  const float *products;
  size_t plane;
  /* The offset of the block in the result. */
  size_t y;
  vf bias;
  /* The image, and the block's weights at the first point; the step from one word of weights to the next. */
  const float *x;
  const float *weights;
  size_t weight_step;
} winograd_block;

/* Stores one tile of sums. */
CK_INLINE void winograd_store(
  const ck_winograd_args *c, const size_t m, const winograd_block *b, size_t top, size_t left, const vf *sums) {
  const ck_window *w = &c->window;
  vf lower = vset(c->epilogue.lower), upper = vset(c->epilogue.upper);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < m; i++) {
    if (top + i >= w->out_height) break;
    size_t at = b->y + ((top + i) * w->out_width + left) * CK_LANES;
#pragma clang loop unroll(full)
    for (size_t j = 0; j < m; j++) {
      if (left + j >= w->out_width) break;
      vf sum = sums[i * m + j] + b->bias;
      if (c->epilogue.residual) sum += vload(c->epilogue.residual + at + j * CK_LANES);
      vstore(c->y + at + j * CK_LANES, vatmost(vatleast(sum, lower), upper));
    }
  }
}

CK_INLINE void winograd_transform_output(const size_t m, const float *products, size_t plane, vf *sums) {
  const size_t n = m + 2;
  vf d[36], t[24];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < n * n; i++) d[i] = vload(products + i * plane);
#pragma clang loop unroll(full)
  for (size_t j = 0; j < n; j++) winograd_output_line(m, d + j, n, t + j, n);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < m; i++) winograd_output_line(m, t + i * n, 1, sums + i * m, 1);
}

/* NaN in each lane in which a sum is not below 2^32, zero elsewhere. */
CK_INLINE vf winograd_check(const size_t m, const vf *sums) {
  vf odd = vset(0);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < m * m; i++) odd = vmuladd(sums[i] * vset(0x1p96f), vset(0), odd);
  return odd;
}

/* Computes the sums of one tile from the taps themselves. An input that is not finite makes the whole transformed
 * tile invalid, and one that is far larger than the others costs them their digits. */
static void CK_NAME(ck_f32_winograd_directly)(
  const ck_winograd_args *c, const size_t m, const winograd_block *b, size_t top, size_t left, vf *sums) {
  const size_t n = m + 2;
  const ck_window *w = &c->window;
  size_t area = w->height * w->width, words = packed_of(c->in_channels);
  for (size_t i = 0; i < m * m; i++) sums[i] = vset(0);
  for (size_t channel = 0; channel < c->in_channels; channel++) {
    vf u[36], t[18], g[9];
    for (size_t point = 0; point < n * n; point++)
      u[point] = packed_numbers(
        vload(b->weights + (point * words + channel / numbers_per_unit) * b->weight_step), channel % numbers_per_unit);
    for (size_t j = 0; j < n; j++) winograd_taps(m, u + j, n, t + j, n);
    for (size_t i = 0; i < 3; i++) winograd_taps(m, t + i * n, 1, g + 3 * i, 1);
    const float *x = b->x + channel / CK_LANES * area * CK_LANES + channel % CK_LANES;
    for (size_t i = 0; i < m * m; i++)
      for (size_t tap = 0; tap < 9; tap++) {
        ptrdiff_t row = (ptrdiff_t)(top + i / m + tap / 3) - (ptrdiff_t)w->before_y;
        ptrdiff_t column = (ptrdiff_t)(left + i % m + tap % 3) - (ptrdiff_t)w->before_x;
        if (row < 0 || row >= (ptrdiff_t)w->height || column < 0 || column >= (ptrdiff_t)w->width) continue;
        sums[i] = vmuladd(vset(x[(row * (ptrdiff_t)w->width + column) * CK_LANES]), g[tap], sums[i]);
      }
  }
}

/* Transforms all output tiles of a band of one block. */
CK_INLINE void winograd_transform_outputs(
  const ck_winograd_args *c, const size_t m, const winograd_block *b, size_t first_row, size_t rows, size_t columns) {
  vf odd = vset(0), sums[16];
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < columns; column++) {
      winograd_transform_output(m, b->products + (row * columns + column) * CK_LANES, b->plane, sums);
      odd += winograd_check(m, sums);
      winograd_store(c, m, b, (first_row + row) * m, column * m, sums);
    }
  if (vsum(odd) == 0) return;
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < columns; column++) {
      winograd_transform_output(m, b->products + (row * columns + column) * CK_LANES, b->plane, sums);
      if (vsum(winograd_check(m, sums)) == 0) continue;
      CK_NAME(ck_f32_winograd_directly)(c, m, b, (first_row + row) * m, column * m, sums);
      winograd_store(c, m, b, (first_row + row) * m, column * m, sums);
    }
}

/* Sums over more channels than this are added from partial sums. The error of long sums is most of the error of the
 * result, which adds and subtracts them. */
enum { winograd_channels = 32 };

/* Computes the products of one point: tiles times transformed weights. */
CK_INLINE void winograd_multiply(
  const ck_winograd_args *c, const float *inputs, const float *weights, size_t tiles, size_t vectors, float *products) {
  static const size_t tap = 0;
  size_t groups = (c->in_channels + CK_LANES - 1) / CK_LANES;
  // Even few channels give two sums. Rounded operands are less exact than any of their sums, so their sums are not
  // split.
  size_t chunk = numbers_per_unit > 1 ? groups
    : c->in_channels < 2 * winograd_channels ? 16 / CK_LANES : winograd_channels / CK_LANES;
  blocked_tile t = {
    .plane = tiles * unit_lanes,
    .group_words = unit_lanes,
    .taps = &tap,
    .tap_count = 1,
    .y_block = tiles * CK_LANES,
    .y_pixel = CK_LANES,
    .lower = -INFINITY,
    .upper = INFINITY,
  };
  for (size_t group = 0; group < groups; group += chunk) {
    bool is_last = group + chunk >= groups;
    t.groups = is_last ? groups - group : chunk;
    t.last_words = is_last ? packed_of(c->in_channels - (groups - 1) * CK_LANES) : unit_lanes;
    t.weights = weights + group * unit_lanes * vectors * CK_LANES;
    for (size_t tile = 0; tile < tiles; tile += blocked_pixels) {
      size_t pixels = tiles - tile < blocked_pixels ? tiles - tile : blocked_pixels;
      t.x = inputs + (group * tiles + tile) * unit_lanes;
      t.y = products + tile * CK_LANES;
      t.residual = group > 0 ? t.y : NULL;
      blocked_tiles[0][pixels - 1][0][vectors - 1](&t);
    }
  }
}

CK_INLINE void winograd_run(const ck_winograd_args *c, const size_t m, size_t begin, size_t end, float *scratch) {
  const size_t n = m + 2;
  const ck_window *w = &c->window;
  size_t tile_rows = (w->out_height + m - 1) / m, columns = (w->out_width + m - 1) / m;
  size_t bands = (tile_rows + c->band - 1) / c->band;
  size_t in_blocks = (c->in_channels + CK_LANES - 1) / CK_LANES, out_blocks = (c->out_channels + CK_LANES - 1) / CK_LANES;
  size_t pieces = (out_blocks + c->block_chunk - 1) / c->block_chunk;
  size_t area = w->height * w->width, out_area = w->out_height * w->out_width, words = packed_of(c->in_channels);
  size_t transformed = SIZE_MAX;
  for (size_t item = begin; item < end; item++) {
    size_t piece = item % pieces, first = item / pieces % bands * c->band, image = item / pieces / bands;
    size_t rows = tile_rows - first < c->band ? tile_rows - first : c->band, tiles = rows * columns;
    size_t input_plane = in_blocks * tiles * unit_lanes, product_plane = blocked_vectors * tiles * CK_LANES;
    float *inputs = scratch, *products = scratch + n * n * input_plane;
    // Items of one band follow each other.
    if (transformed != item / pieces)
      for (size_t block = 0; block < in_blocks; block++)
        winograd_transform_inputs(
          c, m, c->x + (image * in_blocks + block) * area * CK_LANES, c->in_channels - block * CK_LANES, first, rows,
          columns, inputs + block * tiles * unit_lanes, input_plane);
    transformed = item / pieces;
    size_t last = (piece + 1) * c->block_chunk < out_blocks ? (piece + 1) * c->block_chunk : out_blocks;
    for (size_t block = piece * c->block_chunk; block < last;) {
      size_t vectors = last - block > 1 ? 2 : 1;
      const float *weights = c->weights + block * CK_LANES * words * n * n;
      for (size_t point = 0; point < n * n; point++, weights += vectors * CK_LANES * words)
        winograd_multiply(
          c, inputs + point * input_plane, weights, tiles, vectors, products + point * product_plane);
      for (size_t v = 0; v < vectors; v++) {
        size_t channel = (block + v) * CK_LANES, left = c->out_channels - channel;
        winograd_block b = {
          .products = products + v * tiles * CK_LANES,
          .plane = product_plane,
          .y = (image * out_blocks + block + v) * out_area * CK_LANES,
          .bias = vset(0),
          .x = c->x + image * in_blocks * area * CK_LANES,
          .weights = c->weights + block * CK_LANES * words * n * n + v * CK_LANES,
          .weight_step = vectors * CK_LANES,
        };
        if (c->epilogue.row_bias) b.bias = vload_part(c->epilogue.row_bias + channel, left < CK_LANES ? left : CK_LANES);
        winograd_transform_outputs(c, m, &b, first, rows, columns);
        if (c->epilogue.map) {
          size_t start = first * m * w->out_width, stop = (first + rows) * m * w->out_width;
          float *from = c->y + b.y + start * CK_LANES;
          size_t count = ((stop < out_area ? stop : out_area) - start) * CK_LANES;
          c->epilogue.map(from, from, count, c->epilogue.map_a, c->epilogue.map_b);
        }
      }
      block += vectors;
    }
  }
}

static void CK_NAME(ck_f32_winograd)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_winograd_args *c = args;
  if (c->tile == 2) winograd_run(c, 2, begin, end, scratch);
  else winograd_run(c, 4, begin, end, scratch);
}
