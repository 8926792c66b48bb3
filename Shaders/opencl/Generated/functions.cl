// Written by dev/generate-elementwise.py from dev/elementwise. Do not edit.

#define UNARY_RELU 0
#define UNARY_CLIP 1
#define UNARY_LEAKY_RELU 2
#define UNARY_ELU 3
#define UNARY_SELU 4
#define UNARY_SIGMOID 5
#define UNARY_HARD_SIGMOID 6
#define UNARY_HARD_SWISH 7
#define UNARY_SILU 8
#define UNARY_TANH 9
#define UNARY_SOFTPLUS 10
#define UNARY_SOFTSIGN 11
#define UNARY_GELU 12
#define UNARY_GELU_TANH 13
#define UNARY_EXP 14
#define UNARY_LOG 15
#define UNARY_SQRT 16
#define UNARY_ABS 17
#define UNARY_NEGATE 18
#define UNARY_RECIPROCAL 19
#define UNARY_FLOOR 20
#define UNARY_CEIL 21
#define UNARY_ROUND 22
#define UNARY_SIGN 23
#define UNARY_ERF 24
#define UNARY_SIN 25
#define UNARY_COS 26
#define UNARY_SQUARE 27
#define UNARY_RSQRT 28
#define UNARY_AFFINE 29
#define UNARY_TAN 30
#define UNARY_ASIN 31
#define UNARY_ACOS 32
#define UNARY_ATAN 33
#define UNARY_SINH 34
#define UNARY_COSH 35
#define UNARY_ASINH 36
#define UNARY_ACOSH 37
#define UNARY_ATANH 38
#define UNARY_EXP2 39
#define UNARY_THRESHOLDED_RELU 40
#define UNARY_LOGICAL_NOT 41
#define UNARY_SCALED_TANH 42
#define BINARY_ADD 0
#define BINARY_SUBTRACT 1
#define BINARY_MULTIPLY 2
#define BINARY_DIVIDE 3
#define BINARY_MINIMUM 4
#define BINARY_MAXIMUM 5
#define BINARY_POWER 6
#define BINARY_FLOOR_DIVIDE 7
#define BINARY_MODULO 8
#define BINARY_REMAINDER 9
#define BINARY_LOGICAL_AND 10
#define BINARY_LOGICAL_OR 11
#define BINARY_LOGICAL_XOR 12
#define BINARY_SHIFT_LEFT 13
#define BINARY_SHIFT_RIGHT 14
#define COMPARE_EQUAL 0
#define COMPARE_NOT_EQUAL 1
#define COMPARE_LESS 2
#define COMPARE_LESS_OR_EQUAL 3
#define COMPARE_GREATER 4
#define COMPARE_GREATER_OR_EQUAL 5
#define REDUCE_SUM 0
#define REDUCE_MEAN 1
#define REDUCE_MAXIMUM 2
#define REDUCE_MINIMUM 3
#define REDUCE_PRODUCT 4
#define REDUCE_L1 5
#define REDUCE_L2 6
#define REDUCE_SUM_OF_SQUARES 7
#define REDUCE_LOG_SUM 8
#define REDUCE_LOG_SUM_EXP 9
#define SCATTER_REPLACE 0
#define SCATTER_ADD 1
#define SCATTER_MULTIPLY 2
#define SCATTER_MINIMUM 3
#define SCATTER_MAXIMUM 4
#define UNARY_NONE 255

// The activations that kernels fuse; any other number gives x.
static inline vec activate(int code, float a, float b, vec x) {
  switch (code) {
    case UNARY_RELU: return x < 0.0f ? (vec)0.0f : x;
    case UNARY_CLIP: return at_most(at_least(x, a), b);
    case UNARY_LEAKY_RELU: return x >= 0.0f ? x : a * x;
    case UNARY_SIGMOID: return 1.0f / (1.0f + exp(-x));
    case UNARY_HARD_SIGMOID: return at_most(at_least(a * x + b, 0.0f), 1.0f);
    case UNARY_HARD_SWISH: return x * (at_most(at_least(x + 3.0f, 0.0f), 6.0f) / 6.0f);
    case UNARY_SILU: return x / (1.0f + exp(-x));
    default: return x;
  }
}

// What a switch over the code of a function of one or of two elements holds.
#define UNARY_CASES \
  case UNARY_ELU: return x > 0.0f ? x : a * expm1(x); \
  case UNARY_SELU: return b * (x > 0.0f ? x : a * expm1(x)); \
  case UNARY_TANH: return tanh(x); \
  case UNARY_SOFTPLUS: return at_least(x, 0.0f) + log1p(exp(-fabs(x))); \
  case UNARY_SOFTSIGN: return x / (1.0f + fabs(x)); \
  case UNARY_GELU: return 0.5f * x * erfc(-0.70710678f * x); \
  case UNARY_GELU_TANH: return x / (1.0f + exp(-1.5957691f * (x + 0.044715f * x * x * x))); \
  case UNARY_EXP: return exp(x); \
  case UNARY_LOG: return log(x); \
  case UNARY_SQRT: return sqrt(x); \
  case UNARY_ABS: return fabs(x); \
  case UNARY_NEGATE: return -x; \
  case UNARY_RECIPROCAL: return 1.0f / x; \
  case UNARY_FLOOR: return floor(x); \
  case UNARY_CEIL: return ceil(x); \
  case UNARY_ROUND: return rint(x); \
  case UNARY_SIGN: return x > 0.0f ? (vec)1.0f : (x < 0.0f ? (vec)-1.0f : x); \
  case UNARY_ERF: return erf(x); \
  case UNARY_SIN: return by_lane_sin(x); \
  case UNARY_COS: return by_lane_cos(x); \
  case UNARY_SQUARE: return x * x; \
  case UNARY_RSQRT: return 1.0f / sqrt(x + a); \
  case UNARY_AFFINE: return a * x + b; \
  case UNARY_TAN: return by_lane_tan(x); \
  case UNARY_ASIN: return asin(x); \
  case UNARY_ACOS: return acos(x); \
  case UNARY_ATAN: return atan(x); \
  case UNARY_SINH: return sinh(x); \
  case UNARY_COSH: return cosh(x); \
  case UNARY_ASINH: return asinh(x); \
  case UNARY_ACOSH: return acosh(x); \
  case UNARY_ATANH: return atanh(x); \
  case UNARY_EXP2: return exp2(x); \
  case UNARY_THRESHOLDED_RELU: return x < a ? (vec)0.0f : x; \
  case UNARY_SCALED_TANH: return a * tanh(b * x); \
  default: return activate(code, a, b, x);

#define BINARY_CASES \
  case BINARY_ADD: return x + y; \
  case BINARY_SUBTRACT: return x - y; \
  case BINARY_MULTIPLY: return x * y; \
  case BINARY_DIVIDE: return x / y; \
  case BINARY_MINIMUM: return smaller(x, y); \
  case BINARY_MAXIMUM: return larger(x, y); \
  case BINARY_POWER: return pow(x, y); \
  case BINARY_FLOOR_DIVIDE: return floor_quotient(x, y); \
  case BINARY_MODULO: return modulo(x, y); \
  case BINARY_REMAINDER: return fmod(x, y);
