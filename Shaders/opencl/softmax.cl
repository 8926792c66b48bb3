// y = e^(x - max x) / sum e^(x - max x) along the middle axis of [outer, length, inner].

typedef struct {
  int outer, length, inner;
} softmax_shape;

// inner == 1: a work item handles one row.
KERNEL void softmax_rows(BUFFER(x), BUFFER(y), softmax_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int row = get_global_id(0);
  if (row >= s.outer) return;
  x += (size_t)row * s.length;
  y += (size_t)row * s.length;
  float peak = -INFINITY;
  for (int i = 0; i < s.length; i++) peak = AT(x, i) <= peak ? peak : AT(x, i);
  vec sums = 0.0f;
  for (int i = 0; i < s.length; i += LANES) {
    const vec power = exp(load_part(x + i, s.length - i, -INFINITY) - peak);
    store_part(power, y + i, s.length - i);
    sums += power;
  }
  float lanes[LANES], sum = 0.0f;
  JOIN(vstore, LANES)(sums, 0, lanes);
  for (int i = 0; i < LANES; i++) sum += lanes[i];
  for (int i = 0; i < s.length; i += LANES)
    store_part(load_part(y + i, s.length - i, 0.0f) / sum, y + i, s.length - i);
}

// A work item handles LANES neighbours along the inner axis.
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
