// Functions of integers and booleans, computed in WIDE (64 bits) and converted by FIT, which keeps the low bits. Needs
// strided_iteration.cl.

typedef struct {
  int count, run, code, lowA, highA, lowB, highB;
} integer_unary_shape;

static inline WIDE wide_constant(int low, int high) { return (WIDE)((ulong)(uint)low | (ulong)(uint)high << 32); }

KERNEL void integer_unary(BUFFER(x), BUFFER(y), integer_unary_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const WIDE a = wide_constant(s.lowA, s.highA), b = wide_constant(s.lowB, s.highB);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.count);
  for (int i = start; i < end; i++) {
    WIDE v = x[i];
    switch (s.code) {
      case UNARY_RELU: v = max(v, (WIDE)0); break;
      case UNARY_CLIP: v = min(max(v, a), b); break;
      case UNARY_ABS: v = v < 0 ? -v : v; break;
      case UNARY_NEGATE: v = -v; break;
      case UNARY_SIGN: v = v > 0 ? 1 : v < 0 ? -1 : 0; break;
      case UNARY_SQUARE: v = v * v; break;
      case UNARY_LOGICAL_NOT: v = v == 0; break;
    }
    y[i] = s.code == UNARY_CLIP ? SATURATE(v) : FIT(v);
  }
}

// Exponentiation by squaring. Negative exponents give 1, -1, or 0.
static inline WIDE raised(WIDE x, WIDE y) {
  if (y < 0) return x == 1 || (x + 1 == 0 && !(y & 1)) ? 1 : x + 1 == 0 ? x : 0;
  WIDE result = 1;
  for (; y > 0; y >>= 1, x *= x)
    if (y & 1) result *= x;
  return result;
}

static inline WIDE combine_integers(int code, WIDE x, WIDE y) {
  switch (code) {
    case BINARY_ADD: return x + y;
    case BINARY_SUBTRACT: return x - y;
    case BINARY_MULTIPLY: return x * y;
    case BINARY_MINIMUM: return min(x, y);
    case BINARY_MAXIMUM: return max(x, y);
    case BINARY_POWER: return raised(x, y);
    case BINARY_LOGICAL_AND: return x & y;
    case BINARY_LOGICAL_OR: return x | y;
    case BINARY_LOGICAL_XOR: return x ^ y;
    case BINARY_SHIFT_LEFT: return y < 0 || y > 63 ? 0 : x << y;
    case BINARY_SHIFT_RIGHT: return y < 0 || y > 63 ? (x < 0 ? (WIDE)-1 : 0) : x >> y;
  }
  // Dividing the most negative number by -1 traps on some processors.
  if (y == 0) return 0;
  const int negates = y + 1 == 0 && (WIDE)-1 < 0;
  const WIDE q = negates ? -x : x / y, r = negates ? 0 : x % y;
  const int turns = r != 0 && (r < 0) != (y < 0);
  if (code == BINARY_DIVIDE) return q;
  if (code == BINARY_FLOOR_DIVIDE) return turns ? q - 1 : q;
  return code == BINARY_MODULO && turns ? r + y : r;
}

typedef struct {
  int rowCount, length, rows, run, code, xStep, yStep;
  int sizes[5], xStrides[5], yStrides[5];
} integer_binary_shape;

KERNEL void integer_binary(BUFFER(x), BUFFER(y), BUFFER(z), integer_binary_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const ELEMENT, y);
  OPEN(ELEMENT, z);
  EACH_ROW(s) {
    const global ELEMENT *left = x + walked(row, s.sizes, s.xStrides);
    const global ELEMENT *right = y + walked(row, s.sizes, s.yStrides);
    global ELEMENT *target = z + (size_t)row * s.length;
    EACH_PLACE(s) target[i] = FIT(combine_integers(s.code, left[i * s.xStep], right[i * s.yStep]));
  }
}

// Reduces the middle axis of [outer, length, inner]. A work item processes up to `run` neighbours along the inner axis.
typedef struct {
  int outer, length, inner, run, code;
} integer_reduce_shape;

KERNEL void integer_reduce(BUFFER(x), BUFFER(y), integer_reduce_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.inner), row = get_global_id(1);
  const int isSigned = (WIDE)-1 < 0;
  for (int column = start; column < end; column++) {
    WIDE result = s.code == REDUCE_MAXIMUM ? (isSigned ? (WIDE)LONG_MIN : 0)
        : s.code == REDUCE_MINIMUM ? (isSigned ? (WIDE)LONG_MAX : (WIDE)-1) : s.code == REDUCE_PRODUCT;
    for (int i = 0; i < s.length; i++) {
      const WIDE v = x[((size_t)row * s.length + i) * s.inner + column];
      switch (s.code) {
        case REDUCE_MAXIMUM: result = max(result, v); break;
        case REDUCE_MINIMUM: result = min(result, v); break;
        case REDUCE_PRODUCT: result *= v; break;
        case REDUCE_L1: result += v < 0 ? -v : v; break;
        case REDUCE_SUM_OF_SQUARES: result += v * v; break;
        default: result += v;
      }
    }
    y[(size_t)row * s.inner + column] = FIT(s.code == REDUCE_MEAN && s.length > 0 ? result / (WIDE)s.length : result);
  }
}
