// Transposed convolutions: each output gathers the inputs that contribute to it.

// One filter for each channel, on blocked tensors. A work item computes up to `columns` pixels of one output row of one
// block. Weights: [block][tap][LANES].
typedef struct {
  int height, width, inputHeight, inputWidth;
  int kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX, top, left;
  int blocks, columns, parts;
} depthwise_transpose_shape;

KERNEL void depthwise_transpose(BUFFER(x), BUFFER(w), BUFFER(y), depthwise_transpose_shape s) {
  OPEN(const STORED, x);
  OPEN(const PACKED, w);
  OPEN(STORED, y);
  const int item = get_global_id(0), block = get_global_id(1), image = get_global_id(2);
  const int oy = item / s.parts, part = item % s.parts;
  if (oy >= s.height) return;
  w += (size_t)block * s.kernelHeight * s.kernelWidth * LANES;
  x += ((size_t)image * s.blocks + block) * s.inputHeight * s.inputWidth * LANES;
  y += (((size_t)image * s.blocks + block) * s.height + oy) * s.width * LANES;
  const int start = part * s.columns, end = min(start + s.columns, s.width);
  for (int ox = start; ox < end; ox++) {
    vec sum = 0.0f;
    for (int ky = 0; ky < s.kernelHeight; ky++) {
      const int py = oy + s.top - ky * s.dilationY;
      if (py < 0 || py % s.strideY != 0 || py / s.strideY >= s.inputHeight) continue;
      for (int kx = 0; kx < s.kernelWidth; kx++) {
        const int px = ox + s.left - kx * s.dilationX;
        if (px < 0 || px % s.strideX != 0 || px / s.strideX >= s.inputWidth) continue;
        const global STORED *p = x + ((size_t)(py / s.strideY) * s.inputWidth + px / s.strideX) * LANES;
        sum = MULTIPLY_ADD(LOAD(p), PACKED_AT(w + (ky * s.kernelWidth + kx) * LANES), sum);
      }
    }
    STORE(sum, y + (size_t)ox * LANES);
  }
}

// Any groups and weights, on dense tensors; weights are [input channel][output channel of a group][tap]. A work item
// computes up to `columns` outputs of one row of one plane.
typedef struct {
  int height, width, inputHeight, inputWidth;
  int kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX, top, left;
  int groupInputs, groupOutputs, groups, columns, parts;
} grouped_shape;

KERNEL void convolution_transpose_grouped(BUFFER(x), BUFFER(w), BUFFER(y), grouped_shape s) {
  OPEN(const STORED, x);
  OPEN(const STORED, w);
  OPEN(STORED, y);
  const int item = get_global_id(0), plane = get_global_id(1);
  const int oy = item / s.parts, part = item % s.parts;
  if (oy >= s.height) return;
  const int channel = plane % (s.groups * s.groupOutputs), image = plane / (s.groups * s.groupOutputs);
  const int group = channel / s.groupOutputs, area = s.inputHeight * s.inputWidth;
  const int taps = s.kernelHeight * s.kernelWidth;
  x += (size_t)(image * s.groups + group) * s.groupInputs * area;
  w += ((size_t)group * s.groupInputs * s.groupOutputs + channel % s.groupOutputs) * taps;
  y += ((size_t)plane * s.height + oy) * s.width;
  const int start = part * s.columns, end = min(start + s.columns, s.width);
  for (int ox = start; ox < end; ox++) {
    float sum = 0.0f;
    for (int ky = 0; ky < s.kernelHeight; ky++) {
      const int py = oy + s.top - ky * s.dilationY;
      if (py < 0 || py % s.strideY != 0 || py / s.strideY >= s.inputHeight) continue;
      for (int kx = 0; kx < s.kernelWidth; kx++) {
        const int px = ox + s.left - kx * s.dilationX;
        if (px < 0 || px % s.strideX != 0 || px / s.strideX >= s.inputWidth) continue;
        const global STORED *p = x + py / s.strideY * s.inputWidth + px / s.strideX;
        const global STORED *k = w + ky * s.kernelWidth + kx;
        for (int c = 0; c < s.groupInputs; c++)
          sum = MULTIPLY_ADD(AT(p, (size_t)c * area), AT(k, (size_t)c * s.groupOutputs * taps), sum);
      }
    }
    PUT(sum, y, ox);
  }
}
