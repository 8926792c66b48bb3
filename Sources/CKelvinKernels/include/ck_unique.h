#pragma once
#include "ck_kernels.h"

/* The different slices along the middle of [outer, length, inner], equal where all elements are, not-a-number equal to
 * itself: `first` is where each is first, `inverse` which one each slice is, `counts` how often each is there, zeros past
 * `found` of them. One item; scratch is 2 * `length` uint64. */
typedef struct {
  const void *x;
  int64_t *first;
  int64_t *inverse;
  int64_t *counts;
  int32_t *found;
  /* float32 or an integer. */
  ck_scalar type;
  size_t outer, length, inner;
  /* Ascending, else as they come first. */
  bool sorted;
} ck_unique_args;
void ck_unique_run(const void *args, size_t begin, size_t end, void *scratch);
