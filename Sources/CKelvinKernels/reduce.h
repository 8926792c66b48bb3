/* Sums, extremes and related reductions along the middle of [outer, length, inner]. */
#pragma once
#include "ck_kernels.h"
#include "vmath.h"

CK_INLINE float reduce_identity(const size_t function) {
  switch (function) {
  case ck_reduce_maximum: return -INFINITY;
  case ck_reduce_minimum: return INFINITY;
  case ck_reduce_product: return 1;
  default: return 0;
  }
}

CK_INLINE vf reduce_combine(const size_t function, vf sum, vf x) {
  switch (function) {
  case ck_reduce_maximum: return vlarger(sum, x);
  case ck_reduce_minimum: return vsmaller(sum, x);
  case ck_reduce_product: return sum * x;
  default: return sum + x;
  }
}

/* The term of each element; `shift` is the largest element if the function takes exponentials. */
CK_INLINE vf reduce_term(const size_t function, vf x, vf shift) {
  switch (function) {
  case ck_reduce_l1: return vabs(x);
  case ck_reduce_l2:
  case ck_reduce_sum_of_squares: return x * x;
  case ck_reduce_log_sum_exp: return vexp(x - shift);
  default: return x;
  }
}

CK_INLINE vf reduce_finish(const size_t function, vf sum, vf shift, size_t length) {
  switch (function) {
  case ck_reduce_mean: return sum / (float)length;
  case ck_reduce_l2: return __builtin_elementwise_sqrt(sum);
  case ck_reduce_log_sum: return vlog(sum);
  case ck_reduce_log_sum_exp: return vlog(sum) + shift;
  default: return sum;
  }
}

CK_INLINE float reduce_lanes(const size_t function, vf x) {
#pragma clang loop unroll(full)
  for (size_t bit = lane_bits; bit-- > 0;) x = reduce_combine(function, x, vother(x, bit));
  return x[0];
}

CK_INLINE vf reduce_finite(vf x) { return vselect(vabs(x) == vset(INFINITY), vset(0), x); }

/* Reduces consecutive elements to one. */
CK_INLINE float reduce_row(const size_t function, const float *x, size_t count, float shift) {
  vf offset = vset(shift);
  vf sums[4];
  for (size_t way = 0; way < 4; way++) sums[way] = vset(reduce_identity(function));
  size_t i = 0;
  for (; i + 4 * CK_LANES <= count; i += 4 * CK_LANES)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < 4; way++)
      sums[way] =
        reduce_combine(function, sums[way], reduce_term(function, vload(x + i + way * CK_LANES), offset));
  for (; i + CK_LANES <= count; i += CK_LANES)
    sums[0] = reduce_combine(function, sums[0], reduce_term(function, vload(x + i), offset));
  if (i < count) {
    vf term = reduce_term(function, vload_part(x + i, count - i), offset);
    sums[1] = reduce_combine(function, sums[1], vfirst(term, count - i, vset(reduce_identity(function))));
  }
  vf sum = reduce_combine(
    function, reduce_combine(function, sums[0], sums[1]), reduce_combine(function, sums[2], sums[3]));
  return reduce_lanes(function, sum);
}

/* Reduces each of `n` neighbouring columns. */
CK_INLINE vf reduce_columns(const size_t function, const float *x, size_t length, size_t step, size_t n, vf shift) {
  vf sums[2] = {vset(reduce_identity(function)), vset(reduce_identity(function))};
  size_t i = 0;
  for (; i + 2 <= length; i += 2) {
    sums[0] = reduce_combine(function, sums[0], reduce_term(function, vload_part(x + i * step, n), shift));
    sums[1] = reduce_combine(function, sums[1], reduce_term(function, vload_part(x + (i + 1) * step, n), shift));
  }
  if (i < length)
    sums[0] = reduce_combine(function, sums[0], reduce_term(function, vload_part(x + i * step, n), shift));
  return reduce_combine(function, sums[0], sums[1]);
}

enum { reduce_wide = 4 };

/* The same for `reduce_wide` vectors of columns, so that each row is read in longer pieces. */
CK_INLINE void reduce_columns_wide(
  const size_t function, const float *x, size_t length, size_t step, const vf *shifts, vf *results) {
  vf sums[2][reduce_wide];
#pragma clang loop unroll(full)
  for (size_t k = 0; k < reduce_wide; k++) sums[0][k] = sums[1][k] = vset(reduce_identity(function));
  size_t i = 0;
  for (; i + 2 <= length; i += 2)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < 2; way++)
#pragma clang loop unroll(full)
      for (size_t k = 0; k < reduce_wide; k++)
        sums[way][k] = reduce_combine(
          function, sums[way][k], reduce_term(function, vload(x + (i + way) * step + k * CK_LANES), shifts[k]));
#pragma clang loop unroll(full)
  for (size_t k = 0; k < reduce_wide; k++) {
    if (i < length)
      sums[0][k] =
        reduce_combine(function, sums[0][k], reduce_term(function, vload(x + i * step + k * CK_LANES), shifts[k]));
    results[k] = reduce_combine(function, sums[0][k], sums[1][k]);
  }
}

CK_INLINE void reduce_span(const ck_reduce_args *a, const size_t function, size_t outer, size_t first, size_t count) {
  const float *x = a->x + outer * a->length * a->inner;
  float *y = a->y + outer * a->inner;
  if (a->inner == 1) {
    float shift = 0;
    if (function == ck_reduce_log_sum_exp)
      shift = reduce_finite(vset(reduce_row(ck_reduce_maximum, x, a->length, 0)))[0];
    vf sum = vset(reduce_row(function, x, a->length, shift));
    y[0] = reduce_finish(function, sum, vset(shift), a->length)[0];
    return;
  }
  size_t i = first;
  for (; i + reduce_wide * CK_LANES <= first + count; i += reduce_wide * CK_LANES) {
    vf shifts[reduce_wide] = {0}, sums[reduce_wide];
    if (function == ck_reduce_log_sum_exp) {
      reduce_columns_wide(ck_reduce_maximum, x + i, a->length, a->inner, shifts, sums);
      for (size_t k = 0; k < reduce_wide; k++) shifts[k] = reduce_finite(sums[k]);
    }
    reduce_columns_wide(function, x + i, a->length, a->inner, shifts, sums);
    for (size_t k = 0; k < reduce_wide; k++)
      vstore(y + i + k * CK_LANES, reduce_finish(function, sums[k], shifts[k], a->length));
  }
  for (; i < first + count; i += CK_LANES) {
    size_t n = first + count - i < CK_LANES ? first + count - i : CK_LANES;
    vf shift = vset(0);
    if (function == ck_reduce_log_sum_exp)
      shift = reduce_finite(reduce_columns(ck_reduce_maximum, x + i, a->length, a->inner, n, shift));
    vf sum = reduce_columns(function, x + i, a->length, a->inner, n, shift);
    vstore_part(y + i, reduce_finish(function, sum, shift, a->length), n);
  }
}

typedef void (*reduce_function)(const ck_reduce_args *a, size_t outer, size_t first, size_t count);

#define CK_REDUCE(function)                                                                                        \
  static void CK_NAME(ck_f32_reduce_##function)(const ck_reduce_args *a, size_t outer, size_t first, size_t count) { \
    reduce_span(a, ck_reduce_##function, outer, first, count);                                                        \
  }

CK_REDUCE_FUNCTIONS(CK_REDUCE)

static void CK_NAME(ck_f32_reduce)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  static const reduce_function functions[] = {
#define REDUCE_ENTRY(function) [ck_reduce_##function] = CK_NAME(ck_f32_reduce_##function),
    CK_REDUCE_FUNCTIONS(REDUCE_ENTRY)};
  const ck_reduce_args *a = args;
  size_t chunks = (a->inner + ck_reduce_chunk - 1) / ck_reduce_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t first = item % chunks * ck_reduce_chunk;
    size_t count = a->inner - first < ck_reduce_chunk ? a->inner - first : ck_reduce_chunk;
    functions[a->function](a, item / chunks, first, count);
  }
}
