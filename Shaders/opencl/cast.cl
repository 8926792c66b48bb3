// Conversions of the element type from SOURCE to TARGET by CONVERT. A work item processes `run` elements.
//
// SATURATES: from a floating-point number to an integer. The saturated conversion of NaN is implementation-defined
// (NVIDIA's gives 2^63 for ulong); here it is 0.

#ifdef SATURATES
#define CONVERTED(value) (isnan(value) ? (TARGET)0 : CONVERT(value))
#else
#define CONVERTED(value) CONVERT(value)
#endif

typedef struct {
  int count, run;
} cast_shape;

KERNEL void cast(BUFFER(x), BUFFER(y), cast_shape s) {
  OPEN(const SOURCE, x);
  OPEN(TARGET, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.count);
  for (int i = start; i < end; i++) y[i] = CONVERTED(x[i]);
}
