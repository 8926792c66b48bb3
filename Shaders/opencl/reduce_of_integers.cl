// Reduces the integers along the middle axis of [outer, length, inner], in WIDE (64 bits); FIT keeps the low bits. A work
// item processes up to `run` neighbours along the inner axis.

typedef struct {
  int outer, length, inner, run, code;
} reduce_of_integers_shape;

KERNEL void reduce_of_integers(BUFFER(x), BUFFER(y), reduce_of_integers_shape s) {
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
