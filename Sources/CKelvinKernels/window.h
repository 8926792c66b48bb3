/* Reads windows of an image: rows with their padding, split into stride phases. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"
#include "window_span.h"

/* Copies `count` elements of row `y` from column `x` by the stride; elements outside the image are `fill`. */
CK_INLINE void window_copy_row(
  const ck_window *w, const float *plane, ptrdiff_t y, ptrdiff_t x, float *to, size_t count, float fill) {
  ptrdiff_t width = (ptrdiff_t)w->width, stride = (ptrdiff_t)w->stride_x, n = (ptrdiff_t)count;
  window_span inside = window_inside(w, y, x, n);
  ptrdiff_t before = inside.before, end = inside.end;
  const float *from = plane + y * width + x;
  ptrdiff_t i = 0;
  for (; i < before; i++) to[i] = fill;
  if (stride == 1) {
    for (; i + CK_LANES <= end; i += CK_LANES) vstore(to + i, vload(from + i));
    if (i < end) vstore_part(to + i, vload_part(from + i, (size_t)(end - i)), (size_t)(end - i));
    i = end;
  } else if (stride == 2) {
    for (; i + CK_LANES < end; i += CK_LANES)
      vstore(to + i, veven(vload(from + 2 * i), vload(from + 2 * i + CK_LANES)));
    for (; i < end; i++) to[i] = from[2 * i];
  } else {
    for (; i < end; i++) to[i] = from[i * stride];
  }
  for (; i < n; i++) to[i] = fill;
}

/* Copies elements of a row of slice `z`. */
CK_INLINE void window_copy_slice_row(
  const ck_window *w, const float *volume, ptrdiff_t z, ptrdiff_t y, ptrdiff_t x, float *to, size_t count) {
  bool is_inside = z >= 0 && z < (ptrdiff_t)w->slices.size;
  if (is_inside) volume += (size_t)z * w->height * w->width;
  window_copy_row(w, volume, is_inside ? y : -1, x, to, count, 0);
}

/* Rows of a window's input with the columns of each stride phase contiguous, so that every tap of a window reads
 * consecutive elements: column c of the padded row is at (c % stride) * pitch + c / stride. */
typedef struct {
  /* Elements from phase to phase and from row to row. */
  size_t pitch, row;
  /* The output rows that are computed from one filling, and the input rows that they need. */
  size_t out_rows, rows;
} window_bands;

enum { window_band_elements = 8192 };

CK_INLINE size_t window_max(size_t a, size_t b) { return a > b ? a : b; }

CK_INLINE window_bands window_plan(const ck_window *w) {
  size_t reach_x = (w->kernel_width - 1) * w->dilation_x, reach_y = (w->kernel_height - 1) * w->dilation_y;
  window_bands bands;
  bands.pitch = (w->out_width + CK_LANES - 1) / CK_LANES * CK_LANES + reach_x / w->stride_x + 1;
  bands.row = bands.pitch * w->stride_x;
  size_t fitting = window_band_elements / bands.row;
  size_t out_rows = fitting > reach_y ? (fitting - reach_y - 1) / w->stride_y + 1 : 1;
  out_rows = window_max(out_rows / 4 * 4, 4);
  bands.out_rows = out_rows < w->out_height ? out_rows : w->out_height;
  bands.rows = (bands.out_rows - 1) * w->stride_y + reach_y + 1;
  return bands;
}

/* Fills `to` with the input rows of output rows `first` to `first + count`. */
CK_INLINE void window_fill(
  const ck_window *w, const window_bands *bands, const float *plane, size_t first, size_t count, float fill,
  float *to) {
  size_t rows = (count - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1;
  for (size_t row = 0; row < rows; row++)
    for (size_t phase = 0; phase < w->stride_x; phase++)
      window_copy_row(
        w, plane, (ptrdiff_t)(first * w->stride_y + row) - (ptrdiff_t)w->before_y,
        (ptrdiff_t)phase - (ptrdiff_t)w->before_x, to + row * bands->row + phase * bands->pitch, bands->pitch, fill);
}

/* The float32 elements of scratch that the kernels for this window need. */
CK_INLINE size_t CK_NAME(ck_window_elements)(const ck_window *w) {
  window_bands bands = window_plan(w);
  return bands.rows * bands.row + CK_LANES;
}
