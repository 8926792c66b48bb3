#pragma once
#include "../Generated/ck_functions.h"
#include "ck_fault.h"
#include "ck_kernels.h"

/* Arguments of kernels that write elements by index. Negative indices count from the end. An index outside its axis
 * is reported to `fault` for `node`, and the kernel ends. If `fault` is null, the update is skipped. */

/* y[…, index[…, i, …], …] op= updates[…, i, …]. Items are the indices of the axes before `axis`; updates of
 * different items do not overlap. */
typedef struct {
  const void *indices;
  const void *updates;
  void *y;
  ck_fault *fault;
  uint32_t node;
  ck_scalar index_type;
  /* With ck_scatter_replace, any type of the same size; otherwise float32 or an integer type except uint64. */
  ck_scalar type;
  ck_scatter reduction;
  size_t rank, axis;
  size_t length;
  /* The sizes of the indices. */
  size_t sizes[ck_max_rank];
  size_t y_strides[ck_max_rank];
} ck_scatter_elements_args;
void ck_scatter_elements_run(const void *args, size_t begin, size_t end, void *scratch);

/* Slices of y of `inner` elements by tuples of indices, in order. Items are chunks of ck_map_chunk elements of a
 * slice. */
typedef struct {
  const void *indices;
  const void *updates;
  void *y;
  ck_fault *fault;
  uint32_t node;
  ck_scalar index_type;
  ck_scalar type;
  ck_scatter reduction;
  size_t tuples, depth;
  size_t lengths[ck_max_rank];
  /* Strides in elements. */
  size_t strides[ck_max_rank];
  size_t inner;
} ck_scatter_nd_args;
void ck_scatter_nd_run(const void *args, size_t begin, size_t end, void *scratch);
