// Conversions between floats and integers of at most 32 bits, by a scale and a zero point. The parameters of element
// (o, i, n) of [outer, length, inner] are at o * outerStride + i / block * stride + n * innerStride. A work item
// processes up to `run` elements of one (o, i).

typedef struct {
  int length, inner, block, outerStride, stride, innerStride, run;
} scaling_shape;

#define EACH_ELEMENT(i) for (int i = get_global_id(0) * s.run, end = min(i + s.run, s.inner); i < end; i++)
#define PARAMETERS \
  const int row = get_global_id(1); \
  const size_t first = (size_t)(row / s.length) * s.outerStride + (size_t)(row % s.length / s.block) * s.stride; \
  x += (size_t)row * s.inner; \
  y += (size_t)row * s.inner
