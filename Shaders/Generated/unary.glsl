// Written by dev/generate-elementwise.py from dev/elementwise. Do not edit.
// Needs functions.glsl.

float apply(uint function, float x, float a, float b) {
  switch (function) {
  case UNARY_RELU: return atLeast(x, 0.0);
  case UNARY_CLIP: return atMost(atLeast(x, a), b);
  case UNARY_LEAKY_RELU: return x >= 0.0 ? x : a * x;
  case UNARY_ELU: return x > 0.0 ? x : a * exponentialMinusOne(atMost(x, 0.0));
  case UNARY_SELU: return b * (x > 0.0 ? x : a * exponentialMinusOne(atMost(x, 0.0)));
  case UNARY_SIGMOID: return 1.0 / (1.0 + exponential(-x));
  case UNARY_HARD_SIGMOID: return atMost(atLeast(fma(a, x, b), 0.0), 1.0);
  case UNARY_HARD_SWISH: return x * (atMost(atLeast(x + 3.0, 0.0), 6.0) / 6.0);
  case UNARY_SILU: return x / (1.0 + exponential(-x));
  case UNARY_TANH: return hyperbolicTangent(x);
  case UNARY_SOFTPLUS: return atLeast(x, 0.0) + logarithmOfOnePlus(exponential(-abs(x)));
  case UNARY_SOFTSIGN: return ratio(x, 1.0 + abs(x));
  case UNARY_GELU: return gaussianUnit(x);
  case UNARY_GELU_TANH: return gaussianUnitByTangent(x);
  case UNARY_EXP: return exponential(x);
  case UNARY_LOG: return logarithm(x);
  case UNARY_SQRT: return sqrt(x);
  case UNARY_ABS: return abs(x);
  case UNARY_NEGATE: return -x;
  case UNARY_RECIPROCAL: return 1.0 / x;
  case UNARY_FLOOR: return floor(x);
  case UNARY_CEIL: return ceil(x);
  case UNARY_ROUND: return roundEven(x);
  case UNARY_SIGN: return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x);
  case UNARY_ERF: return errorFunction(x);
  case UNARY_SIN: return sine(x, 0);
  case UNARY_COS: return sine(x, 1);
  case UNARY_SQUARE: return x * x;
  case UNARY_RSQRT: return 1.0 / sqrt(x + a);
  case UNARY_AFFINE: return fma(a, x, b);
  case UNARY_TAN: return sine(x, 0) / sine(x, 1);
  case UNARY_ASIN: return arcSine(x);
  case UNARY_ACOS: return arcCosine(x);
  case UNARY_ATAN: return arcTangent(x);
  case UNARY_SINH: return hyperbolicSine(x);
  case UNARY_COSH: return hyperbolicCosine(x);
  case UNARY_ASINH: return areaSine(x);
  case UNARY_ACOSH: return areaCosine(x);
  case UNARY_ATANH: return areaTangent(x);
  case UNARY_EXP2: return powerOfTwo(x);
  case UNARY_THRESHOLDED_RELU: return x < a ? 0.0 : x;
  case UNARY_SCALED_TANH: return a * hyperbolicTangent(b * x);
  default: return x;
  }
}
