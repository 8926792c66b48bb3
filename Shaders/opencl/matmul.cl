// z = x * y for each matrix of a batch, both operands given by strides in elements. A work item computes ROWS rows of
// LANES columns.

typedef struct {
  int rows, columns, depth;
  int xRow, xDepth, yDepth, yColumn;
  int sizes[4], xStrides[4], yStrides[4];
} matmul_shape;

#define ROWS 4

KERNEL void matmul(BUFFER(x), BUFFER(y), BUFFER(z), matmul_shape s) {
  OPEN(const float, x);
  OPEN(const float, y);
  OPEN(float, z);
  const int column = get_global_id(0) * LANES, first = get_global_id(1) * ROWS, batch = get_global_id(2);
  if (column >= s.columns) return;
  int rest = batch;
  for (int axis = 3; axis >= 0; axis--) {
    const int position = rest % s.sizes[axis];
    rest /= s.sizes[axis];
    x += (size_t)position * s.xStrides[axis];
    y += (size_t)position * s.yStrides[axis];
  }
  const int count = min(s.columns - column, LANES);
  y += (size_t)column * s.yColumn;
  const global float *p[ROWS];
  vec sum[ROWS];
  _Pragma("unroll") for (int i = 0; i < ROWS; i++) {
    p[i] = x + (size_t)min(first + i, s.rows - 1) * s.xRow;
    sum[i] = 0.0f;
  }
  for (int k = 0; k < s.depth; k++) {
    vec value;
    if (s.yColumn == 1) {
      value = load_part(y + (size_t)k * s.yDepth, count, 0.0f);
    } else {
      float lanes[LANES];
      for (int i = 0; i < LANES; i++)
        lanes[i] = i < count ? y[(size_t)k * s.yDepth + (size_t)i * s.yColumn] : 0.0f;
      value = JOIN(vload, LANES)(0, lanes);
    }
    _Pragma("unroll") for (int i = 0; i < ROWS; i++)
      sum[i] = MULTIPLY_ADD((vec)p[i][(size_t)k * s.xDepth], value, sum[i]);
  }
  z += (size_t)batch * s.rows * s.columns + column;
  for (int i = 0; i < ROWS && first + i < s.rows; i++)
    store_part(sum[i], z + (size_t)(first + i) * s.columns, count);
}
