/* Running sums and products along the middle of [outer, length, inner]. */
#pragma once
#include "ck_cumulative_reduce.h"

/* Defines running_TYPE, which takes items of (outer, chunk of inner elements). */
#define RUNNING_TOTALS(arguments, chunk, type, wide)                                         \
  static inline void running_lines_##type(                                                   \
    const arguments *c, size_t at, size_t count, const bool product, const bool exclusive) { \
    wide totals[chunk];                                                                      \
    for (size_t i = 0; i < count; i++) totals[i] = product;                                  \
    for (size_t step = 0; step < c->length; step++) {                                        \
      size_t line = at + (c->reversed ? c->length - 1 - step : step) * c->inner;             \
      const type *x = (const type *)c->x + line;                                             \
      type *y = (type *)c->y + line;                                                         \
      for (size_t i = 0; i < count; i++) {                                                   \
        wide next = product ? totals[i] * (wide)x[i] : totals[i] + (wide)x[i];               \
        y[i] = (type)(exclusive ? totals[i] : next);                                         \
        totals[i] = next;                                                                    \
      }                                                                                      \
    }                                                                                        \
  }                                                                                          \
  static void running_##type(const arguments *c, size_t begin, size_t end) {                 \
    size_t chunks = (c->inner + chunk - 1) / chunk;                                          \
    for (size_t item = begin; item < end; item++) {                                          \
      size_t first = item % chunks * chunk;                                                  \
      size_t at = item / chunks * c->length * c->inner + first;                              \
      size_t count = c->inner - first < chunk ? c->inner - first : chunk;                    \
      if (c->product && c->exclusive) running_lines_##type(c, at, count, true, true);        \
      else if (c->product) running_lines_##type(c, at, count, true, false);                  \
      else if (c->exclusive) running_lines_##type(c, at, count, false, true);                \
      else running_lines_##type(c, at, count, false, false);                                 \
    }                                                                                        \
  }
