#include "ck_cumulative_reduce.h"

/* Integers wrap, so the unsigned type of their size gives the same bits. */
#define CUMULATE(type, wide)                                                                                     \
  static inline void cumulate_lines_##type(                                                                      \
    const ck_cumulative_reduce_args *c, size_t at, size_t count, const bool product, const bool exclusive) {     \
    wide totals[ck_cumulative_reduce_chunk];                                                                     \
    for (size_t i = 0; i < count; i++) totals[i] = product;                                                      \
    for (size_t step = 0; step < c->length; step++) {                                                            \
      size_t line = at + (c->reversed ? c->length - 1 - step : step) * c->inner;                                 \
      const type *x = (const type *)c->x + line;                                                                 \
      type *y = (type *)c->y + line;                                                                             \
      for (size_t i = 0; i < count; i++) {                                                                       \
        wide next = product ? totals[i] * (wide)x[i] : totals[i] + (wide)x[i];                                   \
        y[i] = (type)(exclusive ? totals[i] : next);                                                             \
        totals[i] = next;                                                                                        \
      }                                                                                                          \
    }                                                                                                            \
  }                                                                                                              \
  static void cumulate_##type(const ck_cumulative_reduce_args *c, size_t at, size_t count) {                     \
    if (c->product && c->exclusive) cumulate_lines_##type(c, at, count, true, true);                             \
    else if (c->product) cumulate_lines_##type(c, at, count, true, false);                                       \
    else if (c->exclusive) cumulate_lines_##type(c, at, count, false, true);                                     \
    else cumulate_lines_##type(c, at, count, false, false);                                                      \
  }

CUMULATE(float, double)
CUMULATE(uint8_t, uint8_t)
CUMULATE(uint16_t, uint16_t)
CUMULATE(uint32_t, uint32_t)
CUMULATE(uint64_t, uint64_t)

void ck_cumulative_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_cumulative_reduce_args *c = args;
  size_t chunks = (c->inner + ck_cumulative_reduce_chunk - 1) / ck_cumulative_reduce_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % chunks * ck_cumulative_reduce_chunk, at = item / chunks * c->length * c->inner + first;
    size_t count = c->inner - first < ck_cumulative_reduce_chunk ? c->inner - first : ck_cumulative_reduce_chunk;
    switch (c->type) {
    case ck_float32: cumulate_float(c, at, count); break;
    case ck_int8:
    case ck_uint8: cumulate_uint8_t(c, at, count); break;
    case ck_int16:
    case ck_uint16: cumulate_uint16_t(c, at, count); break;
    case ck_int32:
    case ck_uint32: cumulate_uint32_t(c, at, count); break;
    default: cumulate_uint64_t(c, at, count); break;
    }
  }
}
