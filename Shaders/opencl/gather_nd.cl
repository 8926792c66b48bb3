// Slices of x, each given by a row of `depth` indices into its first axes after the batch axes; negative indices count
// from the end, all are clamped to their axes. A work item copies `run` elements of one slice.

typedef struct {
  int inner, rows, batchStride, depth, run;
  int sizes[8], strides[8];
} gather_nd_shape;

KERNEL void gather_nd(BUFFER(x), BUFFER(indices), BUFFER(y), gather_nd_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const INDEX, indices);
  OPEN(ELEMENT, y);
  const int row = get_global_id(1);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.inner);
  x += (size_t)(row / s.rows) * s.batchStride;
  for (int axis = 0; axis < s.depth; axis++) {
    long index = (long)indices[(size_t)row * s.depth + axis];
    if (index < 0) index += s.sizes[axis];
    x += (size_t)clamp(index, 0L, (long)s.sizes[axis] - 1) * s.strides[axis];
  }
  y += (size_t)row * s.inner;
  for (int i = start; i < end; i++) y[i] = x[i];
}
