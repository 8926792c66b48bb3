// y = f(x), element by element; f is the number of a UnaryFunction.Kind. A work item handles `run` vectors.

typedef struct {
  int count, run, code;
  float a, b;
} unary_shape;

static inline vec apply(int code, float a, float b, vec x) {
  switch (code) {
    case 3: return x > 0.0f ? x : a * expm1(x);
    case 4: return b * (x > 0.0f ? x : a * expm1(x));
    case 9: return tanh(x);
    case 10: return fmax(x, (vec)0.0f) + log1p(exp(-fabs(x)));
    case 11: return x / (1.0f + fabs(x));
    case 12: return 0.5f * x * erfc(-0.70710678f * x);
    case 13: return x / (1.0f + exp(-1.5957691f * (x + 0.044715f * x * x * x)));
    case 14: return exp(x);
    case 15: return log(x);
    case 16: return sqrt(x);
    case 17: return fabs(x);
    case 18: return -x;
    case 19: return 1.0f / x;
    case 20: return floor(x);
    case 21: return ceil(x);
    case 22: return rint(x);
    case 23: return x > 0.0f ? (vec)1.0f : (x < 0.0f ? (vec)-1.0f : x);
    case 24: return erf(x);
    case 25: return sin(x);
    case 26: return cos(x);
    case 27: return x * x;
    case 28: return 1.0f / sqrt(x + a);
    case 29: return a * x + b;
    case 30: return tan(x);
    case 31: return asin(x);
    case 32: return acos(x);
    case 33: return atan(x);
    case 34: return sinh(x);
    case 35: return cosh(x);
    case 36: return asinh(x);
    case 37: return acosh(x);
    case 38: return atanh(x);
    case 39: return exp2(x);
    case 40: return x >= a ? x : (vec)0.0f;
    default: return activate(code, a, b, x);
  }
}

KERNEL void unary(BUFFER(x), BUFFER(y), unary_shape s) {
  OPEN(const float, x);
  OPEN(float, y);
  const int start = get_global_id(0) * s.run * LANES, end = min(start + s.run * LANES, s.count);
  for (int i = start; i < end; i += LANES)
    store_part(apply(s.code, s.a, s.b, load_part(x + i, end - i, 1.0f)), y + i, end - i);
}
