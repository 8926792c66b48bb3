/* Iteration over operands that broadcast, whose stride along the last axis is 0 or 1. */
#pragma once
#include "ck_kernels.h"

typedef struct {
  size_t operands[3];
  size_t result, count;
} broadcast_span;

/* The offsets of item `item` of (outer index, chunk of the last axis), for up to three lists of strides. */
static inline broadcast_span broadcast_item(
  size_t item, size_t rank, const size_t *sizes, const size_t *const *strides, size_t operands) {
  size_t last = rank - 1, inner = sizes[last], chunks = (inner + ck_map_chunk - 1) / ck_map_chunk;
  size_t first = item % chunks * ck_map_chunk, rest = item / chunks;
  broadcast_span span = {.result = rest * inner + first};
  span.count = inner - first < ck_map_chunk ? inner - first : ck_map_chunk;
  for (size_t k = 0; k < operands; k++) span.operands[k] = first * strides[k][last];
  for (size_t axis = last; axis-- > 0;) {
    size_t index = rest % sizes[axis];
    rest /= sizes[axis];
    for (size_t k = 0; k < operands; k++) span.operands[k] += index * strides[k][axis];
  }
  return span;
}
