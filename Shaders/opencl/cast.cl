// Changes of element type from SOURCE to TARGET by CONVERT. A work item handles `run` elements.

typedef struct {
  int count, run;
} cast_shape;

KERNEL void cast(BUFFER(x), BUFFER(y), cast_shape s) {
  OPEN(const SOURCE, x);
  OPEN(TARGET, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.count);
  for (int i = start; i < end; i++) y[i] = CONVERT(x[i]);
}
