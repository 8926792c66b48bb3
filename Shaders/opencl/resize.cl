// Samples two axes of [outer, a, middle, b, inner]: each output position mixes two source positions of each axis.
// `positions` hold for each output position of a, then of b: lower source position, upper source position, weight of
// the upper. Source positions are clamped to their axis. A work item computes up to `run` positions of b.

typedef struct {
  int inputA, outputA, middle, inputB, outputB, inner, run;
} resize_shape;

static inline size_t sampled(float position, int size) { return clamp(convert_int_sat(position), 0, size - 1); }

// With share 0 the result is the lower element, even if the upper one is infinite or NaN.
static inline float between(float a, float b, float share) {
  return share == 0 ? a : a * (1 - share) + b * share;
}

KERNEL void resize(BUFFER(x), BUFFER(positions), BUFFER(y), resize_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const float, positions);
  OPEN(ELEMENT, y);
  const int row = get_global_id(1);
  const int m = row % s.middle, a = row / s.middle % s.outputA, outer = row / s.middle / s.outputA;
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.outputB);
  const size_t step = (size_t)s.inputB * s.inner;
  x += ((size_t)outer * s.inputA * s.middle + m) * step;
  const global ELEMENT *top = x + sampled(positions[a * 3], s.inputA) * s.middle * step;
#if LINEAR
  const global ELEMENT *bottom = x + sampled(positions[a * 3 + 1], s.inputA) * s.middle * step;
  const float down = positions[a * 3 + 2];
#endif
  y += (size_t)row * s.outputB * s.inner;
  positions += s.outputA * 3;
  for (int b = start; b < end; b++) {
    const size_t left = sampled(positions[b * 3], s.inputB) * s.inner;
    global ELEMENT *target = y + (size_t)b * s.inner;
#if LINEAR
    const size_t right = sampled(positions[b * 3 + 1], s.inputB) * s.inner;
    const float across = positions[b * 3 + 2];
    for (int i = 0; i < s.inner; i++) {
      const float upper = between(AT(top, left + i), AT(top, right + i), across);
      const float lower = between(AT(bottom, left + i), AT(bottom, right + i), across);
      PUT(between(upper, lower, down), target, i);
    }
#else
    for (int i = 0; i < s.inner; i++) target[i] = top[left + i];
#endif
  }
}
