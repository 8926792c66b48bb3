// y[…, i, …] = x[…, indices[…, i, …], …]; negative indices count from the end, all are clamped to the axis. Strides are
// x's, 0 along the axis. Needs strided_iteration.cl.

typedef struct {
  int rowCount, length, rows, run, axis, axisStride, xStep;
  int sizes[5], xStrides[5];
} gather_elements_shape;

KERNEL void gather_elements(BUFFER(x), BUFFER(indices), BUFFER(y), gather_elements_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const INDEX, indices);
  OPEN(ELEMENT, y);
  EACH_ROW(s) {
    const global ELEMENT *source = x + walked(row, s.sizes, s.xStrides);
    EACH_PLACE(s) {
      const size_t at = (size_t)row * s.length + i;
      long index = (long)indices[at];
      if (index < 0) index += s.axis;
      y[at] = source[(size_t)i * s.xStep + (size_t)clamp(index, 0L, (long)s.axis - 1) * s.axisStride];
    }
  }
}
