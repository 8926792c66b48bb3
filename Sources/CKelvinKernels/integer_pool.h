/* Maxima of windows of 8-bit integers. */
#pragma once
#include "integer_simd.h"

#define CK_INTEGER_POOL(type, name)                                                                                  \
  static void name(const ck_integer_pool_args *p, size_t plane) {                                                    \
    const ck_window *w = &p->window;                                                                                 \
    const type *x = (const type *)p->x + plane * w->height * w->width;                                               \
    type *y = (type *)p->y + plane * w->out_height * w->out_width;                                                   \
    for (size_t row = 0; row < w->out_height; row++, y += w->out_width) {                                            \
      for (size_t c = 0; c < w->out_width; c++) y[c] = (type)-1 < 0 ? (type)-128 : 0;                                \
      for (size_t ky = 0; ky < w->kernel_height; ky++) {                                                             \
        ptrdiff_t in = (ptrdiff_t)(row * w->stride_y + ky * w->dilation_y) - (ptrdiff_t)w->before_y;                 \
        if (in < 0 || in >= (ptrdiff_t)w->height) continue;                                                          \
        const type *from = x + (size_t)in * w->width;                                                                \
        for (size_t kx = 0; kx < w->kernel_width; kx++) {                                                            \
          ptrdiff_t stride = (ptrdiff_t)w->stride_x, width = (ptrdiff_t)w->width;                                    \
          ptrdiff_t start = (ptrdiff_t)(kx * w->dilation_x) - (ptrdiff_t)w->before_x;                                \
          ptrdiff_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;                                         \
          ptrdiff_t end = start >= width ? 0 : (width - start + stride - 1) / stride;                                \
          if (end > (ptrdiff_t)w->out_width) end = (ptrdiff_t)w->out_width;                                          \
          if (stride == 1)                                                                                           \
            for (ptrdiff_t c = first; c < end; c++) y[c] = y[c] > from[start + c] ? y[c] : from[start + c];          \
          else                                                                                                       \
            for (ptrdiff_t c = first; c < end; c++) {                                                                \
              type value = from[start + c * stride];                                                                 \
              y[c] = y[c] > value ? y[c] : value;                                                                    \
            }                                                                                                        \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
  }

CK_INTEGER_POOL(uint8_t, CK_NAME(ck_u8_window_maximum))
CK_INTEGER_POOL(int8_t, CK_NAME(ck_s8_window_maximum))

static void CK_NAME(ck_i8_pool)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_integer_pool_args *p = args;
  for (size_t plane = begin; plane < end; plane++)
    if (p->is_signed) CK_NAME(ck_s8_window_maximum)(p, plane);
    else CK_NAME(ck_u8_window_maximum)(p, plane);
}
