// Floats to integers of at most 32 bits, multiples of a scale from a zero point, and back. The parameters of element
// (o, i, n) of [outer, length, inner] are at o * outerStride + i / block * stride + n * innerStride. A work item
// handles up to `run` elements of one (o, i).

typedef struct {
  int length, inner, block, outerStride, stride, innerStride, run;
} quantize_shape;

#define EACH_ELEMENT(i) for (int i = get_global_id(0) * s.run, end = min(i + s.run, s.inner); i < end; i++)
#define PARAMETERS \
  const int row = get_global_id(1); \
  const size_t first = (size_t)(row / s.length) * s.outerStride + (size_t)(row % s.length / s.block) * s.stride; \
  x += (size_t)row * s.inner; \
  y += (size_t)row * s.inner

KERNEL void quantize(BUFFER(x), BUFFER(scale), BUFFER(zero), BUFFER(y), quantize_shape s) {
  OPEN(const float, x);
  OPEN(const float, scale);
  OPEN(const ELEMENT, zero);
  OPEN(ELEMENT, y);
  PARAMETERS;
  EACH_ELEMENT(i) {
    const size_t place = first + (size_t)i * s.innerStride;
    // Division may be off in the last place; what is left over tells by how much.
    float q = x[i] / scale[place];
    const float rest = fma(-q, scale[place], x[i]);
    if (fabs(q) < 16777216.0f && !isnan(rest)) q += rest / scale[place];
    y[i] = SATURATE(isnan(q) ? 0L : (long)convert_long_sat(clamp(rint(q), -8e9f, 8e9f)) + (long)zero[place]);
  }
}

KERNEL void dequantize(BUFFER(x), BUFFER(scale), BUFFER(zero), BUFFER(y), quantize_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const float, scale);
  OPEN(const ELEMENT, zero);
  OPEN(float, y);
  PARAMETERS;
  EACH_ELEMENT(i) {
    const size_t place = first + (size_t)i * s.innerStride;
    y[i] = convert_float((long)x[i] - (long)zero[place]) * scale[place];
  }
}
