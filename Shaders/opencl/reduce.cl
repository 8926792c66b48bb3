// Reduces the middle axis of [outer, length, inner].

typedef struct {
  int outer, length, inner, code;
} reduce_shape;

static inline float neutral(int code) {
  return code == REDUCE_MAXIMUM ? -INFINITY : code == REDUCE_MINIMUM ? INFINITY : code == REDUCE_PRODUCT ? 1.0f : 0.0f;
}

static inline vec accumulate(int code, vec sum, vec v, vec peak) {
  switch (code) {
    case REDUCE_MAXIMUM: return larger(sum, v);
    case REDUCE_MINIMUM: return smaller(sum, v);
    case REDUCE_PRODUCT: return sum * v;
    case REDUCE_L1: return sum + fabs(v);
    case REDUCE_L2:
    case REDUCE_SUM_OF_SQUARES: return sum + v * v;
    case REDUCE_LOG_SUM_EXP: return sum + exp(v - peak);
    default: return sum + v;
  }
}

static inline float finish(int code, float sum, float peak, int length) {
  switch (code) {
    case REDUCE_MEAN: return sum / (float)length;
    case REDUCE_L2: return sqrt(sum);
    case REDUCE_LOG_SUM: return log(sum);
    case REDUCE_LOG_SUM_EXP: return log(sum) + peak;
    default: return sum;
  }
}

static inline float fold(int code, float sum, float v) {
  switch (code) {
    case REDUCE_MAXIMUM: return sum > v || isnan(sum) ? sum : v;
    case REDUCE_MINIMUM: return sum < v || isnan(sum) ? sum : v;
    case REDUCE_PRODUCT: return sum * v;
    default: return sum + v;
  }
}

// Subtracting an infinite peak would make a sum of finite terms undefined.
static inline float usable(float peak) { return isinf(peak) ? 0.0f : peak; }

// inner == 1: a work item reduces one row, the lanes holding partial results.
KERNEL void reduce_rows(BUFFER(x), BUFFER(y), reduce_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int row = get_global_id(0);
  if (row >= s.outer) return;
  x += (size_t)row * s.length;
  float peak = 0.0f;
  if (s.code == REDUCE_LOG_SUM_EXP) {
    peak = -INFINITY;
    for (int i = 0; i < s.length; i++) peak = fmax(peak, AT(x, i));
    peak = usable(peak);
  }
  vec sums = neutral(s.code);
  const int whole = s.length / LANES * LANES;
  for (int i = 0; i < whole; i += LANES) sums = accumulate(s.code, sums, LOAD(x + i), (vec)peak);
  float lanes[LANES];
  JOIN(vstore, LANES)(sums, 0, lanes);
  for (int i = whole; i < s.length; i++) {
    float rest[LANES];
    JOIN(vstore, LANES)(accumulate(s.code, (vec)lanes[i - whole], (vec)AT(x, i), (vec)peak), 0, rest);
    lanes[i - whole] = rest[0];
  }
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int i = 0; i < width; i++) lanes[i] = fold(s.code, lanes[i], lanes[i + width]);
  PUT(finish(s.code, lanes[0], peak, s.length), y, row);
}

// A work item reduces LANES neighbours along the inner axis.
KERNEL void reduce_columns(BUFFER(x), BUFFER(y), reduce_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int tiles = (s.inner + LANES - 1) / LANES;
  const int row = get_global_id(0) / tiles, column = get_global_id(0) % tiles * LANES;
  if (row >= s.outer) return;
  const int count = min(s.inner - column, LANES);
  x += (size_t)row * s.length * s.inner + column;
  vec peaks = 0.0f;
  if (s.code == REDUCE_LOG_SUM_EXP) {
    peaks = -INFINITY;
    for (int i = 0; i < s.length; i++) peaks = fmax(peaks, load_part(x + (size_t)i * s.inner, count, 0.0f));
    peaks = isinf(peaks) ? (vec)0.0f : peaks;
  }
  vec sums = neutral(s.code);
  for (int i = 0; i < s.length; i++)
    sums = accumulate(s.code, sums, load_part(x + (size_t)i * s.inner, count, 0.0f), peaks);
  float lanes[LANES], tops[LANES];
  JOIN(vstore, LANES)(sums, 0, lanes);
  JOIN(vstore, LANES)(peaks, 0, tops);
  for (int i = 0; i < count; i++)
    PUT(finish(s.code, lanes[i], tops[i], s.length), y, (size_t)row * s.inner + column + i);
}
