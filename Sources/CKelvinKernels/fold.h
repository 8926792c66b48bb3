/* Adds up the products of a transposed convolution. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

/* The columns of one stride phase of a row. */
CK_INLINE size_t fold_pitch(const ck_window *w) { return (w->out_width + w->stride_x - 1) / w->stride_x; }

static size_t CK_NAME(ck_fold_elements)(const ck_window *w) { return fold_pitch(w) * w->stride_x + CK_LANES; }

CK_INLINE void fold_add(float *y, const float *x, size_t count) {
  size_t i = 0;
  for (; i + CK_LANES <= count; i += CK_LANES) vstore(y + i, vload(y + i) + vload(x + i));
  if (i < count) vstore_part(y + i, vload_part(y + i, count - i) + vload_part(x + i, count - i), count - i);
}

/* Adds row `x` of one tap to a row whose phases are contiguous. */
CK_INLINE void fold_add_tap(const ck_window *w, const float *x, size_t kx, float *phases) {
  ptrdiff_t stride = (ptrdiff_t)w->stride_x, pitch = (ptrdiff_t)fold_pitch(w), width = (ptrdiff_t)w->width;
  ptrdiff_t offset = (ptrdiff_t)(kx * w->dilation_x) - (ptrdiff_t)w->before_x;
  ptrdiff_t phase = (offset % stride + stride) % stride, shift = (offset - phase) / stride;
  ptrdiff_t columns = ((ptrdiff_t)w->out_width - phase + stride - 1) / stride;
  ptrdiff_t first = shift < 0 ? -shift : 0, end = columns - shift < width ? columns - shift : width;
  if (first < end) fold_add(phases + phase * pitch + first + shift, x + first, (size_t)(end - first));
}

/* The element of an axis whose tap at `offset` adds to output `place`, or `size` if there is none. */
CK_INLINE size_t fold_source(size_t place, size_t before, size_t offset, size_t stride, size_t size) {
  if (place + before < offset || (place + before - offset) % stride) return size;
  size_t source = (place + before - offset) / stride;
  return source < size ? source : size;
}

/* `taps` is what slice kz of the taps contributes: [kernel_height * kernel_width, slices, height, width]. */
CK_INLINE void fold_add_slice(
  const ck_window *w, const float *taps, size_t slice, size_t row, float *phases) {
  size_t area = w->height * w->width, volume = w->slices.size * area;
  for (size_t ky = 0; ky < w->kernel_height; ky++) {
    size_t source = fold_source(row, w->before_y, ky * w->dilation_y, w->stride_y, w->height);
    if (source == w->height) continue;
    for (size_t kx = 0; kx < w->kernel_width; kx++)
      fold_add_tap(
        w, taps + (ky * w->kernel_width + kx) * volume + slice * area + source * w->width, kx, phases);
  }
}

/* `line` is (output slice, output row). */
CK_INLINE void fold_row(const ck_window *w, const float *taps, size_t line, float *phases) {
  const ck_window_axis *s = &w->slices;
  size_t step = w->kernel_height * w->kernel_width * s->size * w->height * w->width;
  memset(phases, 0, fold_pitch(w) * w->stride_x * sizeof(float));
  for (size_t kz = 0; kz < s->kernel; kz++) {
    size_t slice = fold_source(line / w->out_height, s->before, kz * s->dilation, s->stride, s->size);
    if (slice < s->size) fold_add_slice(w, taps + kz * step, slice, line % w->out_height, phases);
  }
}

static void CK_NAME(ck_f32_fold)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_fold_args *f = args;
  const ck_window *w = &f->window;
  size_t taps = w->slices.kernel * w->kernel_height * w->kernel_width, stride = w->stride_x, pitch = fold_pitch(w);
  size_t lines = w->slices.out * w->out_height, plane_size = taps * w->slices.size * w->height * w->width;
  for (size_t plane = begin; plane < end; plane++)
    for (size_t line = 0; line < lines; line++) {
      float *y = f->y + (plane * lines + line) * w->out_width, *phases = stride == 1 ? y : scratch;
      fold_row(w, f->x + plane * plane_size, line, phases);
      if (stride == 1) continue;
      size_t whole = w->out_width / stride;
      if (stride == 2)
        for (size_t i = 0; i < whole; i++) {
          y[2 * i] = phases[i];
          y[2 * i + 1] = phases[pitch + i];
        }
      else
        for (size_t i = 0; i < whole; i++)
          for (size_t phase = 0; phase < stride; phase++) y[i * stride + phase] = phases[phase * pitch + i];
      for (size_t x = whole * stride; x < w->out_width; x++) y[x] = phases[x % stride * pitch + x / stride];
    }
}
