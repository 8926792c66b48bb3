#pragma once
#include "ck_kernels.h"

/* The indices of the elements that are not zero in a tensor of `count` elements and `rank` sizes. `places` is [rank,
 * count], with a column for each such element and zeros after the last; `found` is their number. One item. */
typedef struct {
  const void *x;
  void *places;
  int32_t *found;
  ck_scalar type;
  bool wide; /* int64 places, else int32 */
  size_t count, rank;
  size_t sizes[ck_max_rank];
} ck_non_zero_args;
void ck_non_zero_run(const void *args, size_t begin, size_t end, void *scratch);
