// Conversions of float16, which is half at a segment's boundary and float inside. A work item processes `run` elements.

typedef struct {
  int count, run;
} half_shape;

#define RANGE const int start = get_global_id(0) * s.run, end = min(start + s.run, s.count)

KERNEL void half_to_float(BUFFER(x), BUFFER(y), half_shape s) {
  OPEN(const half, x);
  OPEN(float, y);
  RANGE;
  for (int i = start; i < end; i++) y[i] = vload_half(i, x);
}

KERNEL void float_to_half(BUFFER(x), BUFFER(y), half_shape s) {
  OPEN(const float, x);
  OPEN(half, y);
  RANGE;
  for (int i = start; i < end; i++) vstore_half_rte(x[i], i, y);
}

// The same, but finite numbers stay finite: numbers beyond the largest float16 become that number.
KERNEL void float_to_finite_half(BUFFER(x), BUFFER(y), half_shape s) {
  OPEN(const float, x);
  OPEN(half, y);
  RANGE;
  for (int i = start; i < end; i++) vstore_half_rte(isfinite(x[i]) ? clamp(x[i], -65504.0f, 65504.0f) : x[i], i, y);
}
