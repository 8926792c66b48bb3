#pragma once
#include "ck_kernels.h"

/* Rows of float32 written over rows of a cache [batch, head, length, width]: row i of a head over row
 * lengths[batch] + first + i, unless there is none. Strides of the new rows are from batch to batch, head to head, row
 * to row and element to element. Items are the new rows of all heads. */
typedef struct {
  const float *rows;
  float *cache;
  /* Of 64 bits or of 32. */
  const void *lengths;
  bool are_wide;
  size_t heads, count, length, width;
  size_t strides[4];
  int64_t first;
} ck_update_cache_args;
void ck_update_cache_run(const void *args, size_t begin, size_t end, void *scratch);
