/* Running sums and products of float32. */
#pragma once
#include "running.h"

RUNNING_TOTALS(ck_cumulative_reduce_args, ck_cumulative_reduce_chunk, float, double)

static void CK_NAME(ck_f32_running)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_cumulative_reduce_args *c = args;
  size_t chunks = (c->inner + ck_cumulative_reduce_chunk - 1) / ck_cumulative_reduce_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % chunks * ck_cumulative_reduce_chunk, at = item / chunks * c->length * c->inner + first;
    size_t count = c->inner - first < ck_cumulative_reduce_chunk ? c->inner - first : ck_cumulative_reduce_chunk;
    running_float(c, at, count);
  }
}
