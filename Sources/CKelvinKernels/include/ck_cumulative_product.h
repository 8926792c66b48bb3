#pragma once
#include "ck_kernels.h"

/* Products along the middle of [outer, length, inner], of float32 (multiplied in float64) or integers. Items are
 * (outer, inner). */
typedef struct {
  const void *x;
  void *y;
  ck_scalar type;
  size_t outer, length, inner;
  bool exclusive, reversed;
} ck_cumulative_product_args;
void ck_cumulative_product_run(const void *args, size_t begin, size_t end, void *scratch);
