// Any grouped convolution over up to three axes of a dense tensor, or its transpose. A work item computes `run` outputs.

typedef struct {
  int count, outputDepth, outputHeight, outputWidth, channels, groupOutputs, groupInputs;
  int depth, height, width, kernelZ, kernelY, kernelX, strideZ, strideY, strideX;
  int dilationZ, dilationY, dilationX, beforeZ, beforeY, beforeX;
  int isTransposed, hasBias, hasResidual, run;
} convolution_volume_shape;

// The input position of a tap of an output's window along an axis; -1 if there is none.
static inline int placed(int isTransposed, int position, int tap, int stride, int dilation, int before, int size) {
  if (!isTransposed) {
    const int at = position * stride - before + tap * dilation;
    return at < size ? max(at, -1) : -1;
  }
  const int spread = position + before - tap * dilation;
  return spread >= 0 && spread % stride == 0 && spread / stride < size ? spread / stride : -1;
}

KERNEL void convolution_volume(
    BUFFER(x), BUFFER(weights), BUFFER(bias), BUFFER(residual), BUFFER(y), convolution_volume_shape s) {
  OPEN(const STORED, x);
  OPEN(const STORED, weights);
  OPEN(const STORED, bias);
  OPEN(const STORED, residual);
  OPEN(STORED, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.count);
  const int area = s.depth * s.height * s.width, taps = s.kernelZ * s.kernelY * s.kernelX;
  for (int index = start; index < end; index++) {
    const int line = index / s.outputWidth, slice = line / s.outputHeight, plane = slice / s.outputDepth;
    const int image = plane / s.channels, channel = plane % s.channels, group = channel / s.groupOutputs;
    const global STORED *source =
        x + (size_t)(image * (s.channels / s.groupOutputs) + group) * s.groupInputs * area;
    const int first = s.isTransposed ? group * s.groupInputs * s.groupOutputs + channel % s.groupOutputs
        : channel * s.groupInputs;
    const int step = s.isTransposed ? s.groupOutputs * taps : taps;
    float sum = s.hasBias ? AT(bias, channel) : 0.0f;
    for (int kz = 0; kz < s.kernelZ; kz++) {
      const int iz =
          placed(s.isTransposed, slice % s.outputDepth, kz, s.strideZ, s.dilationZ, s.beforeZ, s.depth);
      for (int ky = 0; ky < s.kernelY; ky++) {
        const int iy =
            placed(s.isTransposed, line % s.outputHeight, ky, s.strideY, s.dilationY, s.beforeY, s.height);
        for (int kx = 0; kx < s.kernelX; kx++) {
          const int ix =
              placed(s.isTransposed, index % s.outputWidth, kx, s.strideX, s.dilationX, s.beforeX, s.width);
          if (min(iz, min(iy, ix)) < 0) continue;
          const global STORED *from = source + ((size_t)iz * s.height + iy) * s.width + ix;
          const global STORED *weight = weights + (size_t)first * taps + (kz * s.kernelY + ky) * s.kernelX + kx;
          for (int c = 0; c < s.groupInputs; c++)
            sum = MULTIPLY_ADD(AT(from, (size_t)c * area), AT(weight, (size_t)c * step), sum);
        }
      }
    }
    PUT(s.hasResidual ? sum + AT(residual, index) : sum, y, index);
  }
}
