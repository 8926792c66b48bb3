/* Iteration over operands that broadcast, whose stride along the last axis is 0, 1 or ck_repeats. */
#pragma once
#include "ck_kernels.h"

typedef struct {
  size_t rank;
  const size_t *sizes;
  size_t operands;
  const size_t *strides[3];
} broadcast;

/* Elements of one row of the result, which is a run of its last axis. */
typedef struct {
  size_t operands[3];
  size_t result, count;
  /* The offset at which the iteration ends. */
  size_t end;
  /* The row's indices along the other axes, its offset in each operand, and the first element's index in the row. */
  size_t index[ck_max_rank], rows[3], first;
} broadcast_span;

static inline void broadcast_place(const broadcast *b, broadcast_span *span) {
  size_t last = b->rank - 1, row = b->sizes[last] - span->first, left = span->end - span->result;
  span->count = row < left ? row : left;
  for (size_t k = 0; k < b->operands; k++)
    span->operands[k] = span->rows[k] + (b->strides[k][last] == 1 ? span->first : 0);
}

/* The first span of some strips. Others follow while the result's offset is below the end. */
static inline broadcast_span broadcast_begin(const broadcast *b, size_t begin, size_t end) {
  size_t count = 1, last = b->rank - 1;
  for (size_t axis = 0; axis < b->rank; axis++) count *= b->sizes[axis];
  broadcast_span span = {.result = begin * ck_strip, .end = end * ck_strip < count ? end * ck_strip : count};
  span.first = span.result % b->sizes[last];
  size_t rest = span.result / b->sizes[last];
  for (size_t axis = last; axis-- > 0; rest /= b->sizes[axis]) {
    span.index[axis] = rest % b->sizes[axis];
    for (size_t k = 0; k < b->operands; k++) span.rows[k] += span.index[axis] * b->strides[k][axis];
  }
  broadcast_place(b, &span);
  return span;
}

static inline void broadcast_next(const broadcast *b, broadcast_span *span) {
  span->result += span->count;
  span->first = 0;
  if (span->result >= span->end) return;
  for (size_t axis = b->rank - 1; axis-- > 0;) {
    bool carries = ++span->index[axis] == b->sizes[axis];
    for (size_t k = 0; k < b->operands; k++)
      span->rows[k] += b->strides[k][axis] - (carries ? b->sizes[axis] * b->strides[k][axis] : 0);
    if (!carries) break;
    span->index[axis] = 0;
  }
  broadcast_place(b, span);
}
