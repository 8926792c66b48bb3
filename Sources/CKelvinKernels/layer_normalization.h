/* Rows normalized to mean 0 and variance 1, or to a mean square of 1. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

CK_INLINE float layer_mean(const float *x, size_t length) {
  vf sum = vset(0), second = vset(0);
  size_t i = 0;
  for (; i + 2 * CK_LANES <= length; i += 2 * CK_LANES) {
    sum += vload(x + i);
    second += vload(x + i + CK_LANES);
  }
  for (; i + CK_LANES <= length; i += CK_LANES) sum += vload(x + i);
  if (i < length) second += vload_part(x + i, length - i);
  return vsum(sum + second) / (float)length;
}

/* The mean of the squares of x - mean, less the square of the mean's own error; corrects `mean` by that error. */
CK_INLINE float layer_variance(const float *x, size_t length, float *mean) {
  vf squares[2] = {vset(0), vset(0)}, errors[2] = {vset(0), vset(0)}, m = vset(*mean);
  size_t i = 0;
  for (; i + 2 * CK_LANES <= length; i += 2 * CK_LANES)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < 2; way++) {
      vf d = vload(x + i + way * CK_LANES) - m;
      squares[way] = vmuladd(d, d, squares[way]);
      errors[way] += d;
    }
  for (size_t n; i < length; i += n) {
    n = length - i < CK_LANES ? length - i : CK_LANES;
    vf d = vfirst(vload_part(x + i, n) - m, n, vset(0));
    squares[0] = vmuladd(d, d, squares[0]);
    errors[0] += d;
  }
  float square = vsum(squares[0] + squares[1]), error = vsum(errors[0] + errors[1]);
  error /= (float)length;
  *mean += error;
  float variance = square / (float)length - error * error;
  return variance > 0 ? variance : variance < 0 ? 0 : variance;
}

CK_INLINE float layer_mean_square(const float *x, size_t length) {
  vf sums[4] = {vset(0), vset(0), vset(0), vset(0)};
  size_t i = 0;
  for (; i + 4 * CK_LANES <= length; i += 4 * CK_LANES)
#pragma clang loop unroll(full)
    for (size_t way = 0; way < 4; way++) {
      vf v = vload(x + i + way * CK_LANES);
      sums[way] = vmuladd(v, v, sums[way]);
    }
  for (size_t n; i < length; i += n) {
    n = length - i < CK_LANES ? length - i : CK_LANES;
    vf v = vload_part(x + i, n);
    sums[0] = vmuladd(v, v, sums[0]);
  }
  return vsum((sums[0] + sums[1]) + (sums[2] + sums[3])) / (float)length;
}

/* NaN if the squares are out of range, because 1 / infinity would make every element 0. */
CK_INLINE float layer_factor(float variance, float epsilon) {
  return isinf(variance) ? NAN : 1 / sqrtf(variance + epsilon);
}

/* As layer_factor, but 0 if an element is infinite: 1 / infinity is then the right factor of the others. */
CK_INLINE float mean_square_factor(const float *x, size_t length, float square, float epsilon) {
  if (isinf(square))
    for (size_t i = 0; i < length; i++)
      if (isinf(x[i])) return 0;
  return layer_factor(square, epsilon);
}

static void CK_NAME(ck_f32_layer_normalization)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_layer_normalization_args *l = args;
  for (size_t row = begin; row < end; row++) {
    const float *x = l->x + row * l->length;
    float *y = l->y + row * l->length;
    float mean = l->centered ? layer_mean(x, l->length) : 0;
    float factor = l->centered ? layer_factor(layer_variance(x, l->length, &mean), l->epsilon)
                               : mean_square_factor(x, l->length, layer_mean_square(x, l->length), l->epsilon);
    vf m = vset(mean), inverse = vset(factor);
    for (size_t i = 0; i < l->length; i += CK_LANES) {
      size_t n = l->length - i < CK_LANES ? l->length - i : CK_LANES;
      bool whole = n == CK_LANES;
      vf value = ((whole ? vload(x + i) : vload_part(x + i, n)) - m) * inverse;
      if (l->scale) value *= whole ? vload(l->scale + i) : vload_part(l->scale + i, n);
      if (l->shift) value += whole ? vload(l->shift + i) : vload_part(l->shift + i, n);
      if (whole) vstore(y + i, value);
      else vstore_part(y + i, value, n);
    }
  }
}
