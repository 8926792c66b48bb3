// Maximum or mean of each window, on blocked tensors. A work item computes up to `columns` pixels of one output row of
// one channel block.

typedef struct {
  int height, width, inputHeight, inputWidth;
  int kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX, top, left, bottom, right;
  int columns, parts, takesMaximum, countsPadding;
} pool_shape;

// The number of the window's positions in [low, high).
static inline int positions(int start, int kernel_, int dilation, int low, int high) {
  int count = 0;
  for (int k = 0; k < kernel_; k++) {
    const int place = start + k * dilation;
    count += place >= low && place < high;
  }
  return count;
}

KERNEL void pool(BUFFER(x), BUFFER(y), pool_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int item = get_global_id(0), plane = get_global_id(1);
  const int oy = item / s.parts, part = item % s.parts;
  if (oy >= s.height) return;
  const int start = part * s.columns, end = min(start + s.columns, s.width);
  x += (size_t)plane * s.inputHeight * s.inputWidth * LANES;
  y += ((size_t)plane * s.height + oy) * s.width * LANES;
  const int iy = oy * s.strideY - s.top;
  const int low = s.countsPadding ? -s.top : 0, high = s.inputHeight + (s.countsPadding ? s.bottom : 0);
  const int left = s.countsPadding ? -s.left : 0, right = s.inputWidth + (s.countsPadding ? s.right : 0);
  const int rows = positions(iy, s.kernelHeight, s.dilationY, low, high);
  for (int ox = start; ox < end; ox++) {
    const int ix = ox * s.strideX - s.left;
    vec result = s.takesMaximum ? -INFINITY : 0.0f;
    for (int ky = 0; ky < s.kernelHeight; ky++) {
      const int row = iy + ky * s.dilationY;
      if (row < 0 || row >= s.inputHeight) continue;
      for (int kx = 0; kx < s.kernelWidth; kx++) {
        const int column = ix + kx * s.dilationX;
        if (column < 0 || column >= s.inputWidth) continue;
        const vec v = LOAD(x + ((size_t)row * s.inputWidth + column) * LANES);
        if (s.takesMaximum)
          result = larger(result, v);
        else
          result += v;
      }
    }
    if (!s.takesMaximum) result /= (float)(rows * positions(ix, s.kernelWidth, s.dilationX, left, right));
    STORE(result, y + (size_t)ox * LANES);
  }
}
