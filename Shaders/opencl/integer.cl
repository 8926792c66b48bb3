// Functions of integers and truth values, computed in WIDE (64 bits) and brought back by FIT, which keeps the low bits; codes
// are the numbers of UnaryFunction.Kind and Binary.Function. Needs walk.cl.

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
      case 0: v = max(v, (WIDE)0); break;
      case 1: v = min(max(v, a), b); break;
      case 17: v = v < 0 ? -v : v; break;
      case 18: v = -v; break;
      case 23: v = v > 0 ? 1 : v < 0 ? -1 : 0; break;
      case 27: v = v * v; break;
      case 41: v = v == 0; break;
    }
    y[i] = s.code == 1 ? SATURATE(v) : FIT(v);
  }
}

// By squaring. Negative exponents leave 1, -1, or 0.
static inline WIDE raised(WIDE x, WIDE y) {
  if (y < 0) return x == 1 || (x + 1 == 0 && !(y & 1)) ? 1 : x + 1 == 0 ? x : 0;
  WIDE result = 1;
  for (; y > 0; y >>= 1, x *= x)
    if (y & 1) result *= x;
  return result;
}

static inline WIDE combine_integers(int code, WIDE x, WIDE y) {
  switch (code) {
    case 0: return x + y;
    case 1: return x - y;
    case 2: return x * y;
    case 4: return min(x, y);
    case 5: return max(x, y);
    case 6: return raised(x, y);
    case 10: return x & y;
    case 11: return x | y;
    case 12: return x ^ y;
  }
  // The most negative number over -1 is a trap on some processors.
  if (y == 0) return 0;
  const int negates = y + 1 == 0 && (WIDE)-1 < 0;
  const WIDE q = negates ? -x : x / y, r = negates ? 0 : x % y;
  const int turns = r != 0 && (r < 0) != (y < 0);
  if (code == 3) return q;
  if (code == 7) return turns ? q - 1 : q;
  return code == 8 && turns ? r + y : r;
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

// Combines the middle axis of [outer, length, inner]; the code is the number of a Reduce.Function. A work item handles
// up to `run` neighbours along the inner axis.
typedef struct {
  int outer, length, inner, run, code;
} integer_reduce_shape;

KERNEL void integer_reduce(BUFFER(x), BUFFER(y), integer_reduce_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.inner), row = get_global_id(1);
  const int isSigned = (WIDE)-1 < 0;
  for (int column = start; column < end; column++) {
    WIDE result = s.code == 2 ? (isSigned ? (WIDE)LONG_MIN : 0) : s.code == 3 ? (isSigned ? (WIDE)LONG_MAX : (WIDE)-1)
        : s.code == 4;
    for (int i = 0; i < s.length; i++) {
      const WIDE v = x[((size_t)row * s.length + i) * s.inner + column];
      switch (s.code) {
        case 2: result = max(result, v); break;
        case 3: result = min(result, v); break;
        case 4: result *= v; break;
        case 5: result += v < 0 ? -v : v; break;
        case 7: result += v * v; break;
        default: result += v;
      }
    }
    y[(size_t)row * s.inner + column] = FIT(s.code == 1 && s.length > 0 ? result / (WIDE)s.length : result);
  }
}
