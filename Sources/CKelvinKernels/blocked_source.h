/* The source of a convolution on blocks: the image itself if each position reads only itself and numbers are not
 * rounded. Otherwise the source is a band of rows in scratch with its padding, the columns of each stride phase
 * contiguous. */
#pragma once
#include "blocked_band.h"
#include "ck_kernels.h"
#include "window.h"
#include "packed_operands.h"

/* Copies `count` pixels of a block, `step` apart, as words. */
CK_INLINE void blocked_copy_pixels(const float *from, size_t step, float *to, size_t count, vmask mask) {
  if (numbers_per_unit == 1 && step == 1) {
    memcpy(to, from, count * CK_LANES * sizeof(float));
    return;
  }
  for (size_t i = 0; i < count; i++)
    packed_store(to + i * unit_lanes, packed_load_numbers(from + i * step * CK_LANES, mask));
}

/* Copies one row of pixels, every `stride`-th from column `x`; pixels outside are zero. `mask` selects the lanes
 * that are channels. */
CK_INLINE void blocked_copy_row(
  const ck_window *w, const float *plane, ptrdiff_t y, ptrdiff_t x, float *to, size_t count, vmask mask) {
  ptrdiff_t n = (ptrdiff_t)count;
  window_span inside = window_inside(w, y, x, n);
  size_t before = (size_t)inside.before, end = (size_t)inside.end, width = unit_lanes * sizeof(float);
  memset(to, 0, before * width);
  const float *from = plane + (y * (ptrdiff_t)w->width + x + inside.before * (ptrdiff_t)w->stride_x) * CK_LANES;
  blocked_copy_pixels(from, w->stride_x, to + before * unit_lanes, end - before, mask);
  memset(to + end * unit_lanes, 0, (count - end) * width);
}

/* The same for `planes` planes, at most numbers_per_unit, whose numbers become one word. */
CK_INLINE void blocked_join_row(
  const ck_window *w, const float *plane, size_t planes, ptrdiff_t y, ptrdiff_t x, float *to, size_t count) {
  if (numbers_per_unit == 1) {
    window_copy_row(w, plane, y, x, to, count, 0);
    return;
  }
  enum { strip = 4 * CK_LANES };
  float rows[2][strip] = {0};
  for (size_t at = 0; at < count; at += strip) {
    size_t n = count - at < strip ? count - at : strip;
    for (size_t i = 0; i < planes; i++)
      window_copy_row(
        w, plane + i * w->height * w->width, y, x + (ptrdiff_t)(at * w->stride_x), rows[i], n, 0);
    for (size_t i = 0; i < n; i += CK_LANES)
      vstore_part(
        to + at + i, packed_join(vload(rows[0] + i), vload(rows[1] + i)), n - i < CK_LANES ? n - i : CK_LANES);
  }
}

/* The size of an image's channels, and of the words packed from them. */
typedef struct {
  /* Floats of a pixel, and words of it, of a group; and channels in a group. */
  size_t size, words, channels;
  size_t groups;
} blocked_source;

CK_INLINE blocked_source blocked_source_of(const ck_blocked_convolution_args *c) {
  blocked_source s = {CK_LANES, unit_lanes, CK_LANES, 0};
  if (c->is_planar) s = (blocked_source){1, 1, numbers_per_unit, 0};
  s.groups = (c->in_channels + s.channels - 1) / s.channels;
  return s;
}

/* Fills the rows of a band of one group that has `channels` channels. */
CK_INLINE void blocked_fill(
  const ck_blocked_convolution_args *c, const blocked_band *band, const float *x, size_t channels, size_t first,
  float *to) {
  const ck_window *w = &c->window;
  vmask mask = vmask_range(0, (ptrdiff_t)channels);
  for (size_t row = 0; row < band->rows; row++)
    for (size_t phase = 0; phase < w->stride_x; phase++) {
      ptrdiff_t y = (ptrdiff_t)(first * w->stride_y + row) - (ptrdiff_t)w->before_y;
      ptrdiff_t column = (ptrdiff_t)phase - (ptrdiff_t)w->before_x;
      size_t at = row * band->row + phase * band->pitch;
      if (c->is_planar) blocked_join_row(w, x, channels, y, column, to + at, band->pitch);
      else blocked_copy_row(w, x, y, column, to + at * unit_lanes, band->pitch, mask);
    }
}

/* Copies the input of a band to scratch, unless it is read in place.
 *
 * Returns the address of the first pixel, and in `plane` the number of words from a group of channels to the next. */
CK_INLINE const float *blocked_bring(
  const ck_blocked_convolution_args *c, const float *x, const blocked_band *band, size_t first, size_t count,
  float *scratch, size_t *plane) {
  blocked_source s = blocked_source_of(c);
  size_t area = c->window.height * c->window.width;
  if (!c->copies && numbers_per_unit == 1) {
    *plane = area * s.size;
    return x + first * s.size;
  }
  *plane = (c->copies ? band->rows * band->row : count) * s.words;
  for (size_t group = 0; group < s.groups; group++) {
    size_t left = c->in_channels - group * s.channels, channels = left < s.channels ? left : s.channels;
    const float *from = x + group * s.channels * area;
    float *to = scratch + group * *plane;
    if (c->copies) blocked_fill(c, band, from, channels, first, to);
    else blocked_copy_pixels(from + first * CK_LANES, 1, to, count, vmask_range(0, (ptrdiff_t)channels));
  }
  return scratch;
}
