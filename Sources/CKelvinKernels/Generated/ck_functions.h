/* Written by dev/generate-elementwise.py from dev/elementwise. Do not edit. */
#pragma once

/* The numbers of the functions of one and of two elements, of comparisons, reductions and scatters. */
typedef enum {
  ck_unary_relu = 0, ck_unary_clip = 1, ck_unary_leaky_relu = 2, ck_unary_elu = 3, ck_unary_selu = 4,
  ck_unary_sigmoid = 5, ck_unary_hard_sigmoid = 6, ck_unary_hard_swish = 7, ck_unary_silu = 8, ck_unary_tanh = 9,
  ck_unary_softplus = 10, ck_unary_softsign = 11, ck_unary_gelu = 12, ck_unary_gelu_tanh = 13, ck_unary_exp = 14,
  ck_unary_log = 15, ck_unary_sqrt = 16, ck_unary_abs = 17, ck_unary_negate = 18, ck_unary_reciprocal = 19,
  ck_unary_floor = 20, ck_unary_ceil = 21, ck_unary_round = 22, ck_unary_sign = 23, ck_unary_erf = 24,
  ck_unary_sin = 25, ck_unary_cos = 26, ck_unary_square = 27, ck_unary_rsqrt = 28, ck_unary_affine = 29,
  ck_unary_tan = 30, ck_unary_asin = 31, ck_unary_acos = 32, ck_unary_atan = 33, ck_unary_sinh = 34,
  ck_unary_cosh = 35, ck_unary_asinh = 36, ck_unary_acosh = 37, ck_unary_atanh = 38, ck_unary_exp2 = 39,
  ck_unary_thresholded_relu = 40, ck_unary_logical_not = 41, ck_unary_scaled_tanh = 42
} ck_unary;
typedef enum {
  ck_binary_add = 0, ck_binary_subtract = 1, ck_binary_multiply = 2, ck_binary_divide = 3, ck_binary_minimum = 4,
  ck_binary_maximum = 5, ck_binary_power = 6, ck_binary_floor_divide = 7, ck_binary_modulo = 8,
  ck_binary_remainder = 9, ck_binary_logical_and = 10, ck_binary_logical_or = 11, ck_binary_logical_xor = 12,
  ck_binary_shift_left = 13, ck_binary_shift_right = 14
} ck_binary;
typedef enum {
  ck_compare_equal = 0, ck_compare_not_equal = 1, ck_compare_less = 2, ck_compare_less_or_equal = 3,
  ck_compare_greater = 4, ck_compare_greater_or_equal = 5
} ck_compare;
typedef enum {
  ck_reduce_sum = 0, ck_reduce_mean = 1, ck_reduce_maximum = 2, ck_reduce_minimum = 3, ck_reduce_product = 4,
  ck_reduce_l1 = 5, ck_reduce_l2 = 6, ck_reduce_sum_of_squares = 7, ck_reduce_log_sum = 8, ck_reduce_log_sum_exp = 9
} ck_reduce;
typedef enum {
  ck_scatter_replace = 0, ck_scatter_add = 1, ck_scatter_multiply = 2, ck_scatter_minimum = 3, ck_scatter_maximum = 4
} ck_scatter;

/* How many functions of one element there are, and of two. */
enum { ck_unary_functions = 43, ck_binary_functions = 15 };

/* VECTOR(name, f(x, a, b)) for functions of vectors, SCALAR for those of one element. */
#define CK_UNARY_FUNCTIONS(VECTOR, SCALAR)                                       \
  VECTOR(relu, vatleast(x, vset(0)))                                             \
  VECTOR(clip, vatmost(vatleast(x, a), b))                                       \
  VECTOR(leaky_relu, vselect(x >= vset(0), x, a * x))                            \
  VECTOR(elu, vselect(x > vset(0), x, a * vexpm1(x)))                            \
  VECTOR(selu, b * vselect(x > vset(0), x, a * vexpm1(x)))                       \
  VECTOR(sigmoid, vsigmoid(x))                                                   \
  VECTOR(hard_sigmoid, vatmost(vatleast(a * x + b, vset(0)), vset(1)))           \
  VECTOR(hard_swish, x * (vatmost(vatleast(x + 3, vset(0)), vset(6)) / 6))       \
  VECTOR(silu, x / (1 + vexp(-x)))                                               \
  VECTOR(tanh, vtanh(x))                                                         \
  VECTOR(softplus, vatleast(x, vset(0)) + vlog1p(vexp(-vabs(x))))                \
  VECTOR(softsign, x / (1 + vabs(x)))                                            \
  VECTOR(gelu, vgelu(x))                                                         \
  VECTOR(gelu_tanh, vgelu_tanh(x))                                               \
  VECTOR(exp, vexp(x))                                                           \
  VECTOR(log, vlog(x))                                                           \
  VECTOR(sqrt, __builtin_elementwise_sqrt(x))                                    \
  VECTOR(abs, vabs(x))                                                           \
  VECTOR(negate, -x)                                                             \
  VECTOR(reciprocal, 1 / x)                                                      \
  VECTOR(floor, __builtin_elementwise_floor(x))                                  \
  VECTOR(ceil, __builtin_elementwise_ceil(x))                                    \
  VECTOR(round, __builtin_elementwise_rint(x))                                   \
  VECTOR(sign, vselect(x > vset(0), vset(1), vselect(x < vset(0), vset(-1), x))) \
  VECTOR(erf, verf(x))                                                           \
  VECTOR(sin, vsin(x))                                                           \
  VECTOR(cos, vcos(x))                                                           \
  VECTOR(square, x * x)                                                          \
  VECTOR(rsqrt, 1 / __builtin_elementwise_sqrt(x + a))                           \
  VECTOR(affine, a * x + b)                                                      \
  SCALAR(tan, tanf(x))                                                           \
  VECTOR(asin, vasin(x))                                                         \
  VECTOR(acos, vacos(x))                                                         \
  VECTOR(atan, vatan(x))                                                         \
  SCALAR(sinh, sinhf(x))                                                         \
  SCALAR(cosh, coshf(x))                                                         \
  SCALAR(asinh, asinhf(x))                                                       \
  SCALAR(acosh, acoshf(x))                                                       \
  SCALAR(atanh, atanhf(x))                                                       \
  SCALAR(exp2, exp2f(x))                                                         \
  VECTOR(thresholded_relu, vselect(x < a, vset(0), x))                           \
  VECTOR(scaled_tanh, a * vtanh(b * x))

/* EACH(name, f(x, y)) for functions of vectors. */
#define CK_BINARY_FUNCTIONS(EACH)         \
  EACH(add, x + y)                        \
  EACH(subtract, x - y)                   \
  EACH(multiply, x * y)                   \
  EACH(divide, x / y)                     \
  EACH(minimum, vsmaller(x, y))           \
  EACH(maximum, vlarger(x, y))            \
  EACH(power, vpower(x, y))               \
  EACH(floor_divide, vfloor_divide(x, y)) \
  EACH(modulo, vmodulo(x, y))             \
  EACH(remainder, vremainder(x, y))

/* EACH(name) */
#define CK_REDUCE_FUNCTIONS(EACH) \
  EACH(sum)                       \
  EACH(mean)                      \
  EACH(maximum)                   \
  EACH(minimum)                   \
  EACH(product)                   \
  EACH(l1)                        \
  EACH(l2)                        \
  EACH(sum_of_squares)            \
  EACH(log_sum)                   \
  EACH(log_sum_exp)
