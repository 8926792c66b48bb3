/* Packs columns of a matrix product panel by panel. */
#pragma once
#include "ck_kernels.h"
#include "gemm_rows.h"
#include "window.h"

/* Packs `depth` rows of `count` columns of a strided matrix as [depth][gemm_width], zero-filled, `pitch` elements from
 * row to row. */
static void gemm_pack_matrix(
  const float *b, size_t depth, size_t row_stride, size_t column_stride, size_t count, float *to, size_t pitch) {
  size_t turned = 0;
  if (row_stride == 1 && column_stride != 1)
    for (; turned + 8 <= count; turned += 8) {
      const float *from = b + turned * column_stride;
      size_t k = 0;
      for (; k + 8 <= depth; k += 8)
        gemm_turn(from + k, column_stride, gemm_no_factors, to + k * pitch + turned, pitch);
      for (; k < depth; k++)
        for (size_t j = 0; j < 8; j++) to[k * pitch + turned + j] = from[j * column_stride + k];
    }
  for (size_t k = 0; k < depth; k++, to += pitch) {
    const float *from = b + k * row_stride;
    if (column_stride == 1 && count == gemm_width) {
      for (size_t j = 0; j < gemm_vectors; j++) vstore(to + j * CK_LANES, vload(from + j * CK_LANES));
    } else if (column_stride == 1) {
      for (size_t j = 0; j < gemm_width; j += CK_LANES)
        vstore(to + j, j < count ? vload_part(from + j, gemm_min(CK_LANES, count - j)) : vset(0));
    } else {
      for (size_t j = turned; j < count; j++) to[j] = from[j * column_stride];
      for (size_t j = count; j < gemm_width; j++) to[j] = 0;
    }
  }
}

/* Columns of consecutive output pixels of one row of the image. */
typedef struct {
  size_t start, count;
  ptrdiff_t z, y, x;
} gemm_run;

static void gemm_pack_image(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  const ck_window *w = &g->window;
  gemm_run runs[gemm_width];
  size_t run_count = 0;
  for (size_t done = 0; done < count;) {
    size_t line = (first + done) / w->out_width, column = (first + done) % w->out_width;
    size_t slice = line / w->out_height, row = line % w->out_height;
    size_t length = w->out_width - column < count - done ? w->out_width - column : count - done;
    runs[run_count++] = (gemm_run){
      done, length, (ptrdiff_t)(slice * w->slices.stride) - (ptrdiff_t)w->slices.before,
      (ptrdiff_t)(row * w->stride_y) - (ptrdiff_t)w->before_y,
      (ptrdiff_t)(column * w->stride_x) - (ptrdiff_t)w->before_x};
    done += length;
  }
  size_t area = w->kernel_height * w->kernel_width, volume_size = w->slices.size * w->height * w->width;
  size_t channel = depth_begin / area / w->slices.kernel, kz = depth_begin / area % w->slices.kernel;
  size_t ky = depth_begin % area / w->kernel_width, kx = depth_begin % w->kernel_width;
  const float *volume = b + channel * volume_size;
  for (size_t k = depth_begin; k < depth_end; k++, to += pitch) {
    ptrdiff_t dz = (ptrdiff_t)(kz * w->slices.dilation);
    ptrdiff_t dy = (ptrdiff_t)(ky * w->dilation_y), dx = (ptrdiff_t)(kx * w->dilation_x);
    for (size_t i = 0; i < run_count; i++)
      window_copy_slice_row(
        w, volume, runs[i].z + dz, runs[i].y + dy, runs[i].x + dx, to + runs[i].start, runs[i].count);
    for (size_t j = count; j < gemm_width; j++) to[j] = 0;
    if (++kx < w->kernel_width) continue;
    kx = 0;
    if (++ky < w->kernel_height) continue;
    ky = 0;
    if (++kz < w->slices.kernel) continue;
    kz = 0;
    volume += volume_size;
  }
}

static void gemm_pack(
  const ck_gemm_args *g, const float *b, size_t depth_begin, size_t depth_end, size_t first, size_t count, float *to,
  size_t pitch) {
  if (g->kind == ck_columns_of_image) gemm_pack_image(g, b, depth_begin, depth_end, first, count, to, pitch);
  else
    gemm_pack_matrix(
      b + depth_begin * g->b_row_stride + first * g->b_column_stride, depth_end - depth_begin, g->b_row_stride,
      g->b_column_stride, count, to, pitch);
}
