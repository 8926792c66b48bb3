/* Running sums and products of float32. */
#pragma once
#include "running.h"

RUNNING_TOTALS(ck_cumulative_reduce_args, ck_cumulative_reduce_chunk, float, double)

static void CK_NAME(ck_f32_running)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  running_float(args, begin, end);
}
