#include "ck_kernels.h"

#include <math.h>

static void arg_reduce_store(void *y, size_t element, size_t i, size_t position) {
  switch (element) {
  case 1: ((uint8_t *)y)[i] = (uint8_t)position; break;
  case 2: ((uint16_t *)y)[i] = (uint16_t)position; break;
  case 4: ((uint32_t *)y)[i] = (uint32_t)position; break;
  default: ((uint64_t *)y)[i] = position;
  }
}

/* Joins element `value` at `k` with the best of a lane. */
static inline void arg_reduce_join(
  float value, uint32_t k, float *best, uint32_t *place, const bool takes_last) {
  bool unordered = isnan(value), was_unordered = isnan(*best);
  bool better = value > *best || (unordered && !was_unordered);
  if (takes_last) better |= value == *best || (unordered && was_unordered);
  *best = better ? value : *best;
  *place = better ? k : *place;
}

enum { arg_reduce_lanes = 32 };

/* The position of the best element of a contiguous row: the best of each lane first, then the best lane. */
static inline size_t arg_reduce_row(const float *x, size_t length, const float sign, const bool takes_last) {
  float best[arg_reduce_lanes];
  uint32_t place[arg_reduce_lanes];
  for (uint32_t i = 0; i < arg_reduce_lanes; i++) {
    best[i] = sign * x[i];
    place[i] = i;
  }
  size_t whole = length / arg_reduce_lanes * arg_reduce_lanes;
  for (size_t k = arg_reduce_lanes; k < whole; k += arg_reduce_lanes)
    for (uint32_t i = 0; i < arg_reduce_lanes; i++)
      arg_reduce_join(sign * x[k + i], (uint32_t)k + i, best + i, place + i, takes_last);
  for (size_t k = whole; k < length; k++)
    arg_reduce_join(sign * x[k], (uint32_t)k, best + k % arg_reduce_lanes, place + k % arg_reduce_lanes, takes_last);
  size_t chosen = 0;
  for (size_t i = 1; i < arg_reduce_lanes; i++) {
    bool unordered = isnan(best[i]), was_unordered = isnan(best[chosen]);
    bool same = best[i] == best[chosen] || (unordered && was_unordered);
    bool comes_first = takes_last ? place[i] > place[chosen] : place[i] < place[chosen];
    if (same ? comes_first : best[i] > best[chosen] || (unordered && !was_unordered)) chosen = i;
  }
  return place[chosen];
}

static void arg_reduce_rows(const ck_arg_reduce_args *a, size_t begin, size_t end) {
  float sign = a->minimum ? -1 : 1;
  for (size_t row = begin; row < end; row++) {
    const float *x = a->x + row * a->length;
    size_t place =
      a->takes_last ? arg_reduce_row(x, a->length, sign, true) : arg_reduce_row(x, a->length, sign, false);
    arg_reduce_store(a->y, a->element, row, place);
  }
}

void ck_arg_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_arg_reduce_args *a = args;
  if (a->inner == 1 && a->length >= arg_reduce_lanes && a->length <= UINT32_MAX) {
    arg_reduce_rows(a, begin, end);
    return;
  }
  size_t chunks = (a->inner + ck_arg_reduce_chunk - 1) / ck_arg_reduce_chunk;
  float sign = a->minimum ? -1 : 1;
  for (size_t item = begin; item < end; item++) {
    size_t outer = item / chunks, first = item % chunks * ck_arg_reduce_chunk;
    size_t count = a->inner - first < ck_arg_reduce_chunk ? a->inner - first : ck_arg_reduce_chunk;
    const float *x = a->x + outer * a->length * a->inner + first;
    float best[ck_arg_reduce_chunk];
    size_t place[ck_arg_reduce_chunk];
    for (size_t i = 0; i < count; i++) {
      best[i] = sign * x[i];
      place[i] = 0;
    }
    for (size_t k = 1; k < a->length; k++) {
      const float *row = x + k * a->inner;
      for (size_t i = 0; i < count; i++) {
        float value = sign * row[i];
        bool unordered = isnan(value), was_unordered = isnan(best[i]);
        bool same = value == best[i] || (unordered && was_unordered);
        bool better = value > best[i] || (unordered && !was_unordered) || (a->takes_last && same);
        best[i] = better ? value : best[i];
        place[i] = better ? k : place[i];
      }
    }
    for (size_t i = 0; i < count; i++)
      arg_reduce_store(a->y, a->element, outer * a->inner + first + i, place[i]);
  }
}
