// Transposed convolution on blocked tensors: each output gathers the inputs that would be spread to it.
//
// A work item computes up to `columns` pixels of one output row of one block, SPAN of those at a time that lie a stride
// apart and so meet the same taps. Weights: [block][tap][input channel][LANES], depthwise [block][tap][LANES]; then
// LANES zeros, which stand for what lies outside the input.

typedef struct {
  int height, width, inputHeight, inputWidth;
  int kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX, top, left;
  int channels, blocks, columns, parts, isDepthwise;
} convolution_transpose_shape;

#define SPAN 4
#define EACH_OF_SPAN(i) _Pragma("unroll") for (int i = 0; i < SPAN; i++)

KERNEL void convolution_transpose(BUFFER(x), BUFFER(w), BUFFER(y), convolution_transpose_shape s) {
  OPEN(const float, x);
  OPEN(const float, w);
  OPEN(float, y);
  const int item = get_global_id(0), block = get_global_id(1), image = get_global_id(2);
  const int oy = item / s.parts, part = item % s.parts;
  if (oy >= s.height) return;
  const int inputBlocks = (s.channels + LANES - 1) / LANES, area = s.inputHeight * s.inputWidth;
  const int depth = s.isDepthwise ? 1 : s.channels, taps = s.kernelHeight * s.kernelWidth;
  const global float *zeros = w + (size_t)s.blocks * taps * depth * LANES;
  w += (size_t)block * taps * depth * LANES;
  x += ((size_t)image * inputBlocks + (s.isDepthwise ? block : 0)) * area * LANES;
  y += (((size_t)image * s.blocks + block) * s.height + oy) * s.width * LANES;
  const int start = part * s.columns, end = min(start + s.columns, s.width);
  for (int phase = 0; phase < min(s.strideX, end - start); phase++)
    for (int ox = start + phase; ox < end; ox += SPAN * s.strideX) {
      vec sum[SPAN];
      EACH_OF_SPAN(i) sum[i] = 0.0f;
      for (int ky = 0; ky < s.kernelHeight; ky++) {
        const int py = oy + s.top - ky * s.dilationY;
        if (py < 0 || py % s.strideY != 0 || py / s.strideY >= s.inputHeight) continue;
        const global float *row = x + (size_t)(py / s.strideY) * s.inputWidth * LANES;
        for (int kx = 0; kx < s.kernelWidth; kx++) {
          const int px = ox + s.left - kx * s.dilationX;
          if (px % s.strideX != 0) continue;
          const global float *p[SPAN];
          int step[SPAN];
          EACH_OF_SPAN(i) {
            const int ix = px / s.strideX + i, inside = ix >= 0 && ix < s.inputWidth;
            p[i] = inside ? row + (size_t)ix * LANES : zeros;
            step[i] = inside ? area * LANES : 0;
          }
          const global float *k = w + (size_t)(ky * s.kernelWidth + kx) * depth * LANES;
          if (s.isDepthwise) {
            EACH_OF_SPAN(i) sum[i] = MULTIPLY_ADD(LOAD(p[i]), LOAD(k), sum[i]);
            continue;
          }
          for (int c = 0; c < s.channels; c += LANES) {
            const int count = min(s.channels - c, LANES);
            for (int lane = 0; lane < count; lane++, k += LANES) {
              const vec tap = LOAD(k);
              EACH_OF_SPAN(i) sum[i] = MULTIPLY_ADD((vec)p[i][lane], tap, sum[i]);
            }
            EACH_OF_SPAN(i) p[i] += step[i];
          }
        }
      }
      for (int i = 0; i < SPAN && ox + i * s.strideX < end; i++)
        STORE(sum[i], y + (size_t)(ox + i * s.strideX) * LANES);
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
  OPEN(const float, x);
  OPEN(const float, w);
  OPEN(float, y);
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
        const global float *p = x + py / s.strideY * s.inputWidth + px / s.strideX;
        const global float *k = w + ky * s.kernelWidth + kx;
        for (int c = 0; c < s.groupInputs; c++)
          sum = MULTIPLY_ADD(p[(size_t)c * area], k[(size_t)c * s.groupOutputs * taps], sum);
      }
    }
    y[ox] = sum;
  }
}
