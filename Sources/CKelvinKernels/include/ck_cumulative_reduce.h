#pragma once
#include "ck_kernels.h"

/* Running sums or products along the middle of [outer, length, inner], of float32 (computed in float64) or integers.
 * Items are (outer, chunk of ck_cumulative_reduce_chunk inner elements). `running` of ck_kernels takes those of float32. */
typedef struct {
  const void *x;
  void *y;
  ck_scalar type;
  size_t outer, length, inner;
  bool product, exclusive, reversed;
} ck_cumulative_reduce_args;
/* Of integers. */
void ck_cumulative_reduce_run(const void *args, size_t begin, size_t end, void *scratch);

enum { ck_cumulative_reduce_chunk = 1024 };
