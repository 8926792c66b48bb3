// y = e^(x - max x) / sum e^(x - max x) along rows.

typedef struct {
  int outer, length, inner;
  int extent;   // elements from the first row of one outer index to that of the next
} softmax_shape;

// A work item processes one row, whose vectors are inner * LANES apart: of [outer, length], with inner 1, or of [outer,
// block, inner, LANES].
KERNEL void softmax_rows(BUFFER(x), BUFFER(y), softmax_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int row = get_global_id(0);
  if (row >= s.outer * s.inner) return;
  const size_t start = (size_t)(row / s.inner) * s.extent + (size_t)(row % s.inner) * LANES;
  x += start;
  y += start;
  float peak = -INFINITY;
  for (int i = 0; i < s.length; i++) {
    const float v = AT(x, (size_t)(i / LANES) * s.inner * LANES + i % LANES);
    peak = v <= peak ? peak : v;
  }
  vec sums = 0.0f;
  for (int i = 0; i < s.length; i += LANES) {
    const size_t at = (size_t)i * s.inner;
    const vec power = exp(load_part(x + at, s.length - i, -INFINITY) - peak);
    store_part(power, y + at, s.length - i);
    sums += power;
  }
  float lanes[LANES], sum = 0.0f;
  JOIN(vstore, LANES)(sums, 0, lanes);
  for (int i = 0; i < LANES; i++) sum += lanes[i];
  for (int i = 0; i < s.length; i += LANES) {
    global STORED *place = y + (size_t)i * s.inner;
    store_part(load_part(place, s.length - i, 0.0f) / sum, place, s.length - i);
  }
}

// A work item processes LANES neighbours along the last axis of [outer, length, inner].
KERNEL void softmax_columns(BUFFER(x), BUFFER(y), softmax_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int tiles = (s.inner + LANES - 1) / LANES;
  const int row = get_global_id(0) / tiles, column = get_global_id(0) % tiles * LANES;
  if (row >= s.outer) return;
  const int count = min(s.inner - column, LANES);
  x += (size_t)row * s.length * s.inner + column;
  y += (size_t)row * s.length * s.inner + column;
  vec peak = -INFINITY, sum = 0.0f;
  for (int i = 0; i < s.length; i++) {
    const vec v = load_part(x + (size_t)i * s.inner, count, 0.0f);
    peak = v <= peak ? peak : v;
  }
  for (int i = 0; i < s.length; i++) {
    const vec power = exp(load_part(x + (size_t)i * s.inner, count, 0.0f) - peak);
    store_part(power, y + (size_t)i * s.inner, count);
    sum += power;
  }
  for (int i = 0; i < s.length; i++) {
    global STORED *place = y + (size_t)i * s.inner;
    store_part(load_part(place, count, 0.0f) / sum, place, count);
  }
}
