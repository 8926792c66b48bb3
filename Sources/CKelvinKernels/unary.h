/* Functions of one element. */
#pragma once
#include "ck_kernels.h"
#include "vmath.h"

#define CK_MAP(function, expression)                                                                         \
  CK_INLINE vf map_##function(vf x, vf a, vf b) {                                                            \
    (void)a, (void)b;                                                                                        \
    return expression;                                                                                       \
  }                                                                                                          \
  static void CK_NAME(ck_f32_##function)(const float *x, float *y, size_t count, float a, float b) {         \
    vf va = vset(a), vb = vset(b);                                                                           \
    size_t i = 0;                                                                                            \
    for (; i + CK_LANES <= count; i += CK_LANES) vstore(y + i, map_##function(vload(x + i), va, vb));        \
    if (i < count) vstore_part(y + i, map_##function(vload_part(x + i, count - i), va, vb), count - i);      \
  }

#define CK_SCALAR_MAP(function, expression)                                                          \
  static void CK_NAME(ck_f32_##function)(const float *xs, float *y, size_t count, float a, float b) { \
    (void)a, (void)b;                                                                                \
    for (size_t i = 0; i < count; i++) {                                                             \
      float x = xs[i];                                                                               \
      y[i] = expression;                                                                             \
    }                                                                                                \
  }

CK_MAP(relu, vatleast(x, vset(0)))
CK_MAP(clip, vatmost(vatleast(x, a), b))
CK_MAP(leaky_relu, vselect(x >= vset(0), x, a * x))
CK_MAP(elu, vselect(x > vset(0), x, a * vexpm1(x)))
CK_MAP(selu, b * vselect(x > vset(0), x, a * vexpm1(x)))
CK_MAP(sigmoid, vsigmoid(x))
CK_MAP(hard_sigmoid, vatmost(vatleast(a * x + b, vset(0)), vset(1)))
CK_MAP(hard_swish, x * (vatmost(vatleast(x + 3, vset(0)), vset(6)) / 6))
CK_MAP(silu, x / (1 + vexp(-x)))
CK_MAP(tanh, vtanh(x))
CK_MAP(softplus, vatleast(x, vset(0)) + vlog1p(vexp(-vabs(x))))
CK_MAP(softsign, x / (1 + vabs(x)))
CK_MAP(gelu, vgelu(x))
CK_MAP(gelu_tanh, vgelu_tanh(x))
CK_MAP(exp, vexp(x))
CK_MAP(log, vlog(x))
CK_MAP(sqrt, __builtin_elementwise_sqrt(x))
CK_MAP(abs, vabs(x))
CK_MAP(negate, -x)
CK_MAP(reciprocal, 1 / x)
CK_MAP(floor, __builtin_elementwise_floor(x))
CK_MAP(ceil, __builtin_elementwise_ceil(x))
CK_MAP(round, __builtin_elementwise_rint(x))
CK_MAP(sign, vselect(x > vset(0), vset(1), vselect(x < vset(0), vset(-1), x)))
CK_MAP(erf, verf(x))
CK_SCALAR_MAP(sin, sinf(x))
CK_SCALAR_MAP(cos, cosf(x))
CK_MAP(square, x * x)
CK_MAP(rsqrt, 1 / __builtin_elementwise_sqrt(x + a))
CK_MAP(affine, a * x + b)
CK_SCALAR_MAP(tan, tanf(x))
CK_SCALAR_MAP(asin, asinf(x))
CK_SCALAR_MAP(acos, acosf(x))
CK_SCALAR_MAP(atan, atanf(x))
CK_SCALAR_MAP(sinh, sinhf(x))
CK_SCALAR_MAP(cosh, coshf(x))
CK_SCALAR_MAP(asinh, asinhf(x))
CK_SCALAR_MAP(acosh, acoshf(x))
CK_SCALAR_MAP(atanh, atanhf(x))
CK_SCALAR_MAP(exp2, exp2f(x))
CK_MAP(thresholded_relu, vselect(x >= a, x, vset(0)))

/* In the order of the functions' numbers; the last, of booleans, is none of these. */
#define CK_MAPS                                                                                                     \
  {CK_NAME(ck_f32_relu), CK_NAME(ck_f32_clip), CK_NAME(ck_f32_leaky_relu), CK_NAME(ck_f32_elu),                     \
   CK_NAME(ck_f32_selu), CK_NAME(ck_f32_sigmoid), CK_NAME(ck_f32_hard_sigmoid), CK_NAME(ck_f32_hard_swish),         \
   CK_NAME(ck_f32_silu), CK_NAME(ck_f32_tanh), CK_NAME(ck_f32_softplus), CK_NAME(ck_f32_softsign),                  \
   CK_NAME(ck_f32_gelu), CK_NAME(ck_f32_gelu_tanh), CK_NAME(ck_f32_exp), CK_NAME(ck_f32_log), CK_NAME(ck_f32_sqrt), \
   CK_NAME(ck_f32_abs), CK_NAME(ck_f32_negate), CK_NAME(ck_f32_reciprocal), CK_NAME(ck_f32_floor),                  \
   CK_NAME(ck_f32_ceil), CK_NAME(ck_f32_round), CK_NAME(ck_f32_sign), CK_NAME(ck_f32_erf), CK_NAME(ck_f32_sin),     \
   CK_NAME(ck_f32_cos), CK_NAME(ck_f32_square), CK_NAME(ck_f32_rsqrt), CK_NAME(ck_f32_affine),         \
   CK_NAME(ck_f32_tan), CK_NAME(ck_f32_asin), CK_NAME(ck_f32_acos), CK_NAME(ck_f32_atan), CK_NAME(ck_f32_sinh),     \
   CK_NAME(ck_f32_cosh), CK_NAME(ck_f32_asinh), CK_NAME(ck_f32_acosh), CK_NAME(ck_f32_atanh), CK_NAME(ck_f32_exp2), \
   CK_NAME(ck_f32_thresholded_relu), 0}

static void CK_NAME(ck_f32_unary)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_unary_args *u = args;
  size_t first = begin * ck_map_chunk, last = end * ck_map_chunk < u->count ? end * ck_map_chunk : u->count;
  u->map(u->x + first, u->y + first, last - first, u->a, u->b);
}
