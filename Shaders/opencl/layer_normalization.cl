// y = (x - mean) / sqrt(variance + epsilon) * scale + shift for each row, one row a work group.

typedef struct {
  int length, hasScale, hasShift;
  float epsilon;
} layer_normalization_shape;

// The sum of all lanes. A vector's elements can only be reached through memory.
static inline float across(vec part) {
  float lanes[LANES], sum = 0.0f;
  JOIN(vstore, LANES)(part, 0, lanes);
  for (int i = 0; i < LANES; i++) sum += lanes[i];
  return sum;
}

// Leaves in parts[0] the sum of all lanes of the group's work items. Local memory is named in the kernel alone: handed
// to a function, PoCL 3.1 shares it between work groups that run at once.
#define TOTAL(part, parts)                                                                   \
  barrier(CLK_LOCAL_MEM_FENCE);                                                              \
  parts[get_local_id(0)] = across(part);                                                     \
  for (int width = GROUP / 2; width > 0; width /= 2) {                                       \
    barrier(CLK_LOCAL_MEM_FENCE);                                                            \
    if (get_local_id(0) < width) parts[get_local_id(0)] += parts[get_local_id(0) + width];   \
  }                                                                                          \
  barrier(CLK_LOCAL_MEM_FENCE)

#define EACH_PART(i) for (int i = get_local_id(0) * LANES; i < s.length; i += GROUP * LANES)

KERNEL void layer_normalization(
    BUFFER(x), BUFFER(scale), BUFFER(shift), BUFFER(y), layer_normalization_shape s) {
  OPEN(const STORED, x);
  OPEN(const STORED, scale);
  OPEN(const STORED, shift);
  OPEN(STORED, y);
  local float parts[GROUP];
  const size_t row = get_global_id(0) / GROUP;
  x += row * s.length;
  y += row * s.length;
  vec sum = 0.0f;
  EACH_PART(i) sum += load_part(x + i, s.length - i, 0.0f);
  TOTAL(sum, parts);
  const float mean = parts[0] / s.length;
  sum = 0.0f;
  EACH_PART(i) {
    const vec v = load_part(x + i, s.length - i, mean) - mean;
    sum = MULTIPLY_ADD(v, v, sum);
  }
  TOTAL(sum, parts);
  // Where the squares left the range, 1 / infinity would make every element 0.
  const float variance = parts[0] / s.length;
  const float factor = isinf(variance) ? NAN : 1.0f / sqrt(variance + s.epsilon);
  EACH_PART(i) {
    vec v = (load_part(x + i, s.length - i, mean) - mean) * factor;
    if (s.hasScale) v *= load_part(scale + i, s.length - i, 0.0f);
    if (s.hasShift) v += load_part(shift + i, s.length - i, 0.0f);
    store_part(v, y + i, s.length - i);
  }
}
