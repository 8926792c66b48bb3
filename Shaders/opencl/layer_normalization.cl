// y = (x - mean) / sqrt(variance + epsilon) * scale + shift for each row, on processors. A work item computes one row,
// or LANES adjacent rows. On GPUs groups share rows (Shaders/shared/normalize_lines.kernel). There are no statistics.

typedef struct {
  int length, hasScale, hasShift;
  float epsilon;
} layer_normalization_shape;

// The sum of all lanes. A vector's elements are only accessible through memory.
static inline float across(vec part) {
  float lanes[LANES], sum = 0.0f;
  JOIN(vstore, LANES)(part, 0, lanes);
  for (int i = 0; i < LANES; i++) sum += lanes[i];
  return sum;
}

#define EACH_VECTOR(i) for (int i = 0; i < s.length; i += LANES)

KERNEL void layer_normalization(
    BUFFER(x), BUFFER(scale), BUFFER(shift), BUFFER(statistics), BUFFER(y), layer_normalization_shape s) {
  OPEN(const STORED, x);
  OPEN(const STORED, scale);
  OPEN(const STORED, shift);
  OPEN(STORED, y);
  const size_t row = get_global_id(0);
  x += row * s.length;
  y += row * s.length;
  vec sum = 0.0f;
  EACH_VECTOR(i) sum += load_part(x + i, s.length - i, 0.0f);
  const float mean = across(sum) / s.length;
  sum = 0.0f;
  EACH_VECTOR(i) {
    const vec v = load_part(x + i, s.length - i, mean) - mean;
    sum = MULTIPLY_ADD(v, v, sum);
  }
  // If the squares are out of range, 1 / infinity would make every element 0.
  const float variance = across(sum) / s.length;
  const float factor = isinf(variance) ? NAN : 1.0f / sqrt(variance + s.epsilon);
  EACH_VECTOR(i) {
    vec v = (load_part(x + i, s.length - i, mean) - mean) * factor;
    if (s.hasScale) v *= load_part(scale + i, s.length - i, 0.0f);
    if (s.hasShift) v += load_part(shift + i, s.length - i, 0.0f);
    store_part(v, y + i, s.length - i);
  }
}

// The same for LANES adjacent rows, which have no scale and no shift.
KERNEL void layer_normalization_lanes(
    BUFFER(x), BUFFER(scale), BUFFER(shift), BUFFER(statistics), BUFFER(y), layer_normalization_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const size_t start = (size_t)get_global_id(0) * s.length * LANES;
  x += start;
  y += start;
  vec sum = 0.0f;
  for (int i = 0; i < s.length; i++) sum += LOAD(x + i * LANES);
  const vec mean = sum / s.length;
  sum = 0.0f;
  for (int i = 0; i < s.length; i++) {
    const vec v = LOAD(x + i * LANES) - mean;
    sum = MULTIPLY_ADD(v, v, sum);
  }
  const vec variance = sum / s.length;
  const vec factor = isinf(variance) ? (vec)NAN : 1.0f / sqrt(variance + s.epsilon);
  for (int i = 0; i < s.length; i++) STORE((LOAD(x + i * LANES) - mean) * factor, y + i * LANES);
}
