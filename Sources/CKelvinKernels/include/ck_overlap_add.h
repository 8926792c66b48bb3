#pragma once
#include "ck_kernels.h"

/* Adds blocks [planes, block, counts] to images [planes, image], over three axes. Block b of an image begins at
 * b * strides - before; elements outside the image are dropped. Integers wrap around. Items are planes. */
typedef struct {
  const void *x;
  void *y;
  /* float32, or an integer type. */
  ck_scalar type;
  size_t image[3], block[3], counts[3], strides[3], dilations[3], before[3];
} ck_overlap_add_args;
void ck_overlap_add_run(const void *args, size_t begin, size_t end, void *scratch);
