// y[o, j, i] = x[o, indices[j], i]; negative indices count from the end, all are clamped to the axis.

typedef struct {
  int axis, count, inner, run;
} gather_shape;

KERNEL void gather(BUFFER(x), BUFFER(indices), BUFFER(y), gather_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const INDEX, indices);
  OPEN(ELEMENT, y);
  const int item = get_global_id(1);
  const int outer = item / s.count;
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.inner);
  long index = (long)indices[item % s.count];
  if (index < 0) index += s.axis;
  index = clamp(index, 0L, (long)s.axis - 1);
  x += ((size_t)outer * s.axis + index) * s.inner;
  y += (size_t)item * s.inner;
  for (int i = start; i < end; i++) y[i] = x[i];
}
