#pragma once
#include "../Generated/ck_functions.h"
#include "ck_fault.h"
#include "ck_kernels.h"

/* Arguments of kernels that move elements by index. Negative indices count from the end. An index outside its axis
 * is reported to `fault` for `node`, and the element or slice is not written. A scatter's `fault` may be null, and
 * updates with an index outside are then skipped. */

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

/* The best `count` along the middle of [outer, length, inner], best first, equal ones by position. Items are (outer,
 * inner); scratch is `count` ck_ranked. */
typedef struct {
  uint64_t key;
  uint64_t position;
} ck_ranked;
typedef struct {
  const void *x;
  void *values;
  void *positions;
  /* float32 or an integer. */
  ck_scalar type;
  ck_scalar position_type;
  size_t outer, length, inner, count;
  bool largest;
} ck_top_k_args;
void ck_top_k_run(const void *args, size_t begin, size_t end, void *scratch);

/* Non-maximum suppression of boxes given as centre and size. Items are images; scratch is `candidates` ck_ranked and
 * as many uint32 classes. */
typedef struct {
  const float *boxes;
  const float *scores;
  const float *overlap;
  const float *lowest;
  float *picked_boxes;
  float *picked_scores;
  int32_t *picked;
  int32_t *counts;
  size_t candidates, classes, maximum;
  bool per_class;
} ck_suppression_args;
void ck_suppression_run(const void *args, size_t begin, size_t end, void *scratch);

/* y[o, i, j] = x[o, row[i], column[j]]; null selects all rows or columns in order. Items are (o, i). */
typedef struct {
  const void *x;
  void *y;
  /* Bytes of an element: 1, 2, 4 or 8. */
  size_t element;
  size_t height, width, out_height, out_width;
  const size_t *rows;
  const size_t *columns;
} ck_pick_args;
void ck_pick_run(const void *args, size_t begin, size_t end, void *scratch);
