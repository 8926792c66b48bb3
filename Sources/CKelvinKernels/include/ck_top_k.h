#pragma once
#include "ck_kernels.h"

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
