#pragma once
#include "ck_kernels.h"

/* y = the seed's lower and upper word, and those of `runs`, which is then incremented. One item. Several threads may
 * run it at the same time with the same `runs`. */
typedef struct {
  uint64_t seed;
  uint64_t *runs;
  uint32_t *y;
} ck_random_key_args;
void ck_random_key_run(const void *args, size_t begin, size_t end, void *scratch);
