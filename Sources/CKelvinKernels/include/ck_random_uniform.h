#pragma once
#include "ck_kernels.h"

/* y[i] = (w >> 8) * 2^-24 of word i % 4 of Philox 4x32-10's block of the counter (i / 4, stream, key[2], key[3]) and the
 * key (key[0], key[1]). Items are blocks of four; the last one may be shorter. */
typedef struct {
  const uint32_t *key;
  float *y;
  size_t count;
  uint32_t stream;
} ck_random_uniform_args;
void ck_random_uniform_run(const void *args, size_t begin, size_t end, void *scratch);
