#pragma once
#include "../Generated/ck_functions.h"
#include "ck_fault.h"
#include "ck_kernels.h"

/* Arguments of kernels that read elements by index. Negative indices count from the end. An index outside its axis
 * is reported to `fault` for `node`, and the element or slice is not written. */

/* y[o, i, n] = x[o, index[i], n]. Items are (o, i). */
typedef struct {
  const void *x;
  const void *indices;
  void *y;
  ck_fault *fault;
  uint32_t node;
  ck_scalar index_type;
  size_t outer, length, picked;
  /* Bytes of one slice. */
  size_t inner;
} ck_gather_args;
void ck_gather_run(const void *args, size_t begin, size_t end, void *scratch);

/* y[…, i, …] = x[…, index[…, i, …], …]: y and the indices are dense, of `sizes`. Items are the indices of all axes
 * but the last. */
typedef struct {
  const void *x;
  const void *indices;
  void *y;
  ck_fault *fault;
  uint32_t node;
  ck_scalar index_type;
  /* Bytes of an element: 1, 2, 4 or 8. */
  size_t element;
  size_t rank, axis;
  /* The size of x along the axis. */
  size_t length;
  size_t sizes[ck_max_rank];
  size_t x_strides[ck_max_rank];
} ck_gather_elements_args;
void ck_gather_elements_run(const void *args, size_t begin, size_t end, void *scratch);

/* Slices of x by tuples of `depth` indices; each batch has `tuples` tuples and `x_step` bytes of x. Items are
 * (batch, tuple). */
typedef struct {
  const void *x;
  const void *indices;
  void *y;
  ck_fault *fault;
  uint32_t node;
  ck_scalar index_type;
  size_t tuples, depth;
  size_t lengths[ck_max_rank];
  /* Strides in bytes. */
  size_t strides[ck_max_rank];
  size_t x_step;
  size_t inner;
} ck_gather_nd_args;
void ck_gather_nd_run(const void *args, size_t begin, size_t end, void *scratch);
