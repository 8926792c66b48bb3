// Depthwise convolution on blocked tensors: y = activation(sum over taps of x * w + bias + residual).
//
// A work item computes up to `columns` pixels of one output row of one channel block. Weights are [block][tap][LANES].

typedef struct {
  int blocks, height, width, inputHeight, inputWidth;
  int kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX, top, left;
  int columns, parts, hasBias, hasResidual;
  int activation;
  float a, b;
} depthwise_shape;

KERNEL void depthwise(
    BUFFER(x), BUFFER(w), BUFFER(bias), BUFFER(residual), BUFFER(y), depthwise_shape s) {
  OPEN(const STORED, x);
  OPEN(const PACKED, w);
  OPEN(const float, bias);
  OPEN(const STORED, residual);
  OPEN(STORED, y);
  const int item = get_global_id(0), block = get_global_id(1), image = get_global_id(2);
  const int oy = item / s.parts, part = item % s.parts;
  if (oy >= s.height) return;
  const int start = part * s.columns, end = min(start + s.columns, s.width);
  const size_t plane = (size_t)image * s.blocks + block;
  x += plane * s.inputHeight * s.inputWidth * LANES;
  w += (size_t)block * s.kernelHeight * s.kernelWidth * LANES;
  const size_t rowStart = (plane * s.height + oy) * s.width * LANES;
  y += rowStart;
  residual += rowStart;
  vec offset = 0.0f;
  if (s.hasBias) offset = VECTOR(bias + (size_t)block * LANES);
  const int iy = oy * s.strideY - s.top;
  const int reach = (s.kernelWidth - 1) * s.dilationX;
  const int advance = s.strideX * LANES;

  for (int ox = start; ox < end;) {
    const int ix = ox * s.strideX - s.left;
    vec sum[TILE];
    int count = 1;
    if (ix >= 0 && ox + TILE <= end && ix + (TILE - 1) * s.strideX + reach < s.inputWidth) {
      count = TILE;
      _Pragma("unroll") for (int i = 0; i < TILE; i++) sum[i] = offset;
      for (int ky = 0; ky < s.kernelHeight; ky++) {
        const int row = iy + ky * s.dilationY;
        if (row < 0 || row >= s.inputHeight) continue;
        const global STORED *p = x + ((size_t)row * s.inputWidth + ix) * LANES;
        const global PACKED *k = w + (size_t)ky * s.kernelWidth * LANES;
        for (int kx = 0; kx < s.kernelWidth; kx++, k += LANES, p += s.dilationX * LANES) {
          const vec tap = PACKED_AT(k);
          _Pragma("unroll") for (int i = 0; i < TILE; i++)
            sum[i] = MULTIPLY_ADD(LOAD(p + i * advance), tap, sum[i]);
        }
      }
    } else {
      sum[0] = offset;
      for (int ky = 0; ky < s.kernelHeight; ky++) {
        const int row = iy + ky * s.dilationY;
        if (row < 0 || row >= s.inputHeight) continue;
        for (int kx = 0; kx < s.kernelWidth; kx++) {
          const int column = ix + kx * s.dilationX;
          if (column < 0 || column >= s.inputWidth) continue;
          sum[0] = MULTIPLY_ADD(
              LOAD(x + ((size_t)row * s.inputWidth + column) * LANES),
              PACKED_AT(w + (ky * s.kernelWidth + kx) * LANES), sum[0]);
        }
      }
    }
    for (int i = 0; i < count; i++, ox++) {
      vec v = sum[i];
      if (s.hasResidual) v += LOAD(residual + (size_t)ox * LANES);
      STORE(activate(s.activation, s.a, s.b, v), y + (size_t)ox * LANES);
    }
  }
}
