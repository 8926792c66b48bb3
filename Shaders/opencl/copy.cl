// Copies a strided view of x to a strided view of y: transposes, slices, expansions, parts of a concatenation.
// Strides and offsets are in elements and may be negative. The last axis is a row; a work item copies `run` elements.

typedef struct {
  int rowCount, length, rows, run, xOffset, yOffset, xStep, yStep;
  int sizes[7], xStrides[7], yStrides[7];
} copy_shape;

KERNEL void copy(BUFFER(x), BUFFER(y), copy_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const int first = get_global_id(0) * s.rows, last = min(first + s.rows, s.rowCount);
  const int start = get_global_id(1) * s.run, end = min(start + s.run, s.length);
  for (int row = first; row < last; row++) {
    int rest = row;
    long px = s.xOffset, py = s.yOffset;
    for (int axis = 6; axis >= 0; axis--) {
      if (s.sizes[axis] == 1) continue;
      const int position = rest % s.sizes[axis];
      rest /= s.sizes[axis];
      px += (long)position * s.xStrides[axis];
      py += (long)position * s.yStrides[axis];
    }
    if (s.xStep == 1 && s.yStep == 1)
      for (int i = start; i < end; i++) y[py + i] = x[px + i];
    else
      for (int i = start; i < end; i++) y[py + (long)i * s.yStep] = x[px + (long)i * s.xStep];
  }
}
