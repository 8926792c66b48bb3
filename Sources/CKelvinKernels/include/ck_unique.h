#pragma once
#include "ck_kernels.h"

/* The unique slices along the middle of [outer, length, inner]. Slices are equal if all elements are; NaN is equal
 * to itself. `first` is the first position of each unique slice, `inverse` the unique slice of each position,
 * `counts` the number of occurrences; zeros follow after `found` entries. One item; scratch is 2 * `length` uint64. */
typedef struct {
  const void *x;
  int64_t *first;
  int64_t *inverse;
  int64_t *counts;
  int32_t *found;
  /* float32 or an integer. */
  ck_scalar type;
  size_t outer, length, inner;
  /* Whether slices are ascending; otherwise they are in the order of their first positions. */
  bool sorted;
} ck_unique_args;
void ck_unique_run(const void *args, size_t begin, size_t end, void *scratch);
