#include "ck_kernels.h"

#include <math.h>
#include <string.h>

static void arg_reduce_store(void *y, size_t element, size_t i, size_t position) {
  switch (element) {
  case 1: ((uint8_t *)y)[i] = (uint8_t)position; break;
  case 2: ((uint16_t *)y)[i] = (uint16_t)position; break;
  case 4: ((uint32_t *)y)[i] = (uint32_t)position; break;
  default: ((uint64_t *)y)[i] = position;
  }
}

enum { arg_reduce_lanes = 32 };

/* The position of the best element of a contiguous row: its value is found first, by lanes. */
static size_t arg_reduce_row(const float *x, size_t length, float sign, bool takes_last) {
  float lanes[arg_reduce_lanes];
  uint32_t unordered[arg_reduce_lanes] = {0};
  for (size_t i = 0; i < arg_reduce_lanes; i++) lanes[i] = -INFINITY;
  size_t whole = length / arg_reduce_lanes * arg_reduce_lanes;
  for (size_t k = 0; k < whole; k += arg_reduce_lanes)
    for (size_t i = 0; i < arg_reduce_lanes; i++) {
      float value = sign * x[k + i];
      lanes[i] = value > lanes[i] ? value : lanes[i];
      unordered[i] |= value != value;
    }
  for (size_t k = whole; k < length; k++) {
    float value = sign * x[k];
    lanes[k - whole] = value > lanes[k - whole] ? value : lanes[k - whole];
    unordered[k - whole] |= value != value;
  }
  float best = lanes[0];
  uint32_t has_unordered = unordered[0];
  for (size_t i = 1; i < arg_reduce_lanes; i++) {
    best = lanes[i] > best ? lanes[i] : best;
    has_unordered |= unordered[i];
  }
  /* Blocks without it are passed over. */
  for (size_t k = 0; k < length;) {
    size_t left = length - k;
    if (left >= arg_reduce_lanes) {
      const float *block = takes_last ? x + left - arg_reduce_lanes : x + k;
      uint32_t has_best = 0;
      for (size_t i = 0; i < arg_reduce_lanes; i++)
        has_best |= (uint32_t)(has_unordered ? block[i] != block[i] : sign * block[i] == best);
      if (!has_best) {
        k += arg_reduce_lanes;
        continue;
      }
    }
    size_t place = takes_last ? left - 1 : k;
    if (has_unordered ? isnan(x[place]) : sign * x[place] == best) return place;
    k++;
  }
  return 0;
}

static void arg_reduce_rows(const ck_arg_reduce_args *a, size_t begin, size_t end) {
  float sign = a->minimum ? -1 : 1;
  for (size_t row = begin; row < end; row++) {
    const float *x = a->x + row * a->length;
    arg_reduce_store(a->y, a->element, row, arg_reduce_row(x, a->length, sign, a->takes_last));
  }
}

enum { arg_reduce_quad = 4 };
typedef float arg_reduce_floats __attribute__((ext_vector_type(arg_reduce_quad)));
typedef int32_t arg_reduce_places __attribute__((ext_vector_type(arg_reduce_quad)));

/* Loads elements of lines `first` to `first` + 3, or of the last line instead of those beyond it. */
static inline arg_reduce_floats arg_reduce_load(const float *x, size_t first, size_t count, const size_t step) {
  arg_reduce_floats values;
  if (step == 1 && first + arg_reduce_quad <= count) {
    memcpy(&values, x + first, sizeof values);
    return values;
  }
  for (size_t i = 0; i < arg_reduce_quad; i++) values[i] = x[(first + i < count ? first + i : count - 1) * step];
  return values;
}

/* Reduces up to ck_arg_reduce_chunk lines at once, whose first elements are `step` apart, their others `next`. */
static inline __attribute__((always_inline)) void arg_reduce_chunk(
  const ck_arg_reduce_args *a, const float *x, size_t count, const size_t step, size_t next, const bool takes_last,
  size_t result) {
  float sign = a->minimum ? -1 : 1;
  arg_reduce_floats best[ck_arg_reduce_chunk / arg_reduce_quad];
  arg_reduce_places place[ck_arg_reduce_chunk / arg_reduce_quad];
  size_t quads = (count + arg_reduce_quad - 1) / arg_reduce_quad;
  for (size_t i = 0; i < quads; i++) {
    best[i] = sign * arg_reduce_load(x, i * arg_reduce_quad, count, step);
    place[i] = 0;
  }
  for (size_t k = 1; k < a->length; k++)
    for (size_t i = 0; i < quads; i++) {
      arg_reduce_floats value = sign * arg_reduce_load(x + k * next, i * arg_reduce_quad, count, step);
      arg_reduce_places was_ordered = best[i] == best[i], better;
      if (takes_last) better = (was_ordered & ~(value < best[i])) | (~was_ordered & (value != value));
      else better = was_ordered & ~(value <= best[i]);
      best[i] = better ? value : best[i];
      place[i] = better ? (int32_t)k : place[i];
    }
  for (size_t i = 0; i < count; i++)
    arg_reduce_store(a->y, a->element, result + i, (uint32_t)place[i / arg_reduce_quad][i % arg_reduce_quad]);
}

static void arg_reduce_lines(
  const ck_arg_reduce_args *a, const float *x, size_t count, size_t step, size_t next, size_t result) {
  if (step == 1 && !a->takes_last) arg_reduce_chunk(a, x, count, 1, next, false, result);
  else if (!a->takes_last) arg_reduce_chunk(a, x, count, step, next, false, result);
  else arg_reduce_chunk(a, x, count, step, next, true, result);
}

void ck_arg_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_arg_reduce_args *a = args;
  if (a->inner == 1 && a->length >= arg_reduce_lanes) {
    arg_reduce_rows(a, begin, end);
    return;
  }
  if (a->inner == 1) {
    for (size_t row = begin, count; row < end; row += count) {
      count = end - row < ck_arg_reduce_chunk ? end - row : ck_arg_reduce_chunk;
      arg_reduce_lines(a, a->x + row * a->length, count, a->length, 1, row);
    }
    return;
  }
  size_t chunks = (a->inner + ck_arg_reduce_chunk - 1) / ck_arg_reduce_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t outer = item / chunks, first = item % chunks * ck_arg_reduce_chunk;
    size_t count = a->inner - first < ck_arg_reduce_chunk ? a->inner - first : ck_arg_reduce_chunk;
    arg_reduce_lines(
      a, a->x + outer * a->length * a->inner + first, count, 1, a->inner, outer * a->inner + first);
  }
}
