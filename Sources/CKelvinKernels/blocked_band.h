/* The layout of a band of input rows in scratch. */
#pragma once
#include "ck_kernels.h"

/* In pixels: the distance from phase to phase and from row to row; and the number of rows. */
typedef struct {
  size_t pitch, row, rows;
} blocked_band;

static inline blocked_band blocked_plan(const ck_window *w, size_t out_rows) {
  size_t reach_x = (w->kernel_width - 1) * w->dilation_x, reach_y = (w->kernel_height - 1) * w->dilation_y;
  blocked_band band;
  band.pitch = w->out_width + reach_x / w->stride_x;
  band.row = band.pitch * w->stride_x;
  band.rows = (out_rows - 1) * w->stride_y + reach_y + 1;
  return band;
}

/* The size of a band with padding and without a split into phases: the pixels of a row, and the number of rows. */
typedef struct {
  size_t row, rows;
} blocked_padding;

static inline blocked_padding blocked_padding_of(const ck_window *w, size_t out_rows) {
  return (blocked_padding){
    (w->out_width - 1) * w->stride_x + (w->kernel_width - 1) * w->dilation_x + 1,
    (out_rows - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1};
}
