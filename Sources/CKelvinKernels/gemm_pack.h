/* Columns of a matrix product, brought together panel by panel. */
#pragma once
#include "ck_kernels.h"
#include "gemm_tile.h"
#include "window.h"

/* Packs rows `depth_begin` to `depth_end` of columns `first` to `first + count` as [depth][gemm_width], zero-filled,
 * `pitch` elements from row to row. */
static void gemm_pack_strided(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  for (size_t k = depth_begin; k < depth_end; k++, to += pitch) {
    const float *from = b + k * g->b_row_stride + first * g->b_column_stride;
    if (g->b_column_stride == 1 && count == gemm_width) {
      for (size_t j = 0; j < gemm_vectors; j++) vstore(to + j * CK_LANES, vload(from + j * CK_LANES));
    } else if (g->b_column_stride == 1) {
      for (size_t j = 0; j < gemm_width; j += CK_LANES)
        vstore(to + j, j < count ? vload_part(from + j, gemm_min(CK_LANES, count - j)) : vset(0));
    } else {
      for (size_t j = 0; j < count; j++) to[j] = from[j * g->b_column_stride];
      for (size_t j = count; j < gemm_width; j++) to[j] = 0;
    }
  }
}

/* Columns of consecutive output pixels of one row of the image. */
typedef struct {
  size_t start, count;
  ptrdiff_t y, x;
} gemm_run;

static void gemm_pack_image(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  const ck_window *w = &g->window;
  gemm_run runs[gemm_width];
  size_t run_count = 0;
  for (size_t done = 0; done < count;) {
    size_t row = (first + done) / w->out_width, column = (first + done) % w->out_width;
    size_t length = w->out_width - column < count - done ? w->out_width - column : count - done;
    runs[run_count++] = (gemm_run){
      done, length, (ptrdiff_t)(row * w->stride_y) - (ptrdiff_t)w->before_y,
      (ptrdiff_t)(column * w->stride_x) - (ptrdiff_t)w->before_x};
    done += length;
  }
  size_t area = w->kernel_height * w->kernel_width;
  size_t channel = depth_begin / area, ky = depth_begin % area / w->kernel_width, kx = depth_begin % w->kernel_width;
  const float *plane = b + channel * w->height * w->width;
  for (size_t k = depth_begin; k < depth_end; k++, to += pitch) {
    ptrdiff_t dy = (ptrdiff_t)(ky * w->dilation_y), dx = (ptrdiff_t)(kx * w->dilation_x);
    for (size_t i = 0; i < run_count; i++)
      window_copy_row(w, plane, runs[i].y + dy, runs[i].x + dx, to + runs[i].start, runs[i].count, 0);
    for (size_t j = count; j < gemm_width; j++) to[j] = 0;
    if (++kx == w->kernel_width) {
      kx = 0;
      if (++ky == w->kernel_height) {
        ky = 0;
        plane += w->height * w->width;
      }
    }
  }
}

static void gemm_pack(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  if (g->kind == ck_columns_of_image) gemm_pack_image(g, b, depth_begin, depth_end, first, count, to, pitch);
  else gemm_pack_strided(g, b, depth_begin, depth_end, first, count, to, pitch);
}
