// Maximum or mean of each window over up to three axes of a dense tensor. A work item computes `run` results.

typedef struct {
  int count, outputDepth, outputHeight, outputWidth, depth, height, width;
  int kernelZ, kernelY, kernelX, strideZ, strideY, strideX, dilationZ, dilationY, dilationX;
  int beforeZ, beforeY, beforeX, afterZ, afterY, afterX;
  int takesMaximum, countsPadding, run;
} pool_volume_shape;

KERNEL void pool_volume(BUFFER(x), BUFFER(y), pool_volume_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.count);
  for (int index = start; index < end; index++) {
    const int line = index / s.outputWidth, slice = line / s.outputHeight, plane = slice / s.outputDepth;
    const int iz = slice % s.outputDepth * s.strideZ - s.beforeZ, iy = line % s.outputHeight * s.strideY - s.beforeY;
    const int ix = index % s.outputWidth * s.strideX - s.beforeX;
    const global ELEMENT *source = x + (size_t)plane * s.depth * s.height * s.width;
    ELEMENT largest = LEAST;
    float sum = 0.0f;
    int elements = 0;
    for (int kz = 0; kz < s.kernelZ; kz++)
      for (int ky = 0; ky < s.kernelY; ky++)
        for (int kx = 0; kx < s.kernelX; kx++) {
          const int z = iz + kz * s.dilationZ, row = iy + ky * s.dilationY, column = ix + kx * s.dilationX;
          const int inside =
              z >= 0 && z < s.depth && row >= 0 && row < s.height && column >= 0 && column < s.width;
          elements += s.countsPadding
              ? z < s.depth + s.afterZ && row < s.height + s.afterY && column < s.width + s.afterX : inside;
          if (!inside) continue;
          const ELEMENT v = source[((size_t)z * s.height + row) * s.width + column];
          // NaN differs from itself.
          largest = v > largest || v != v ? v : largest;
          sum += v;
        }
    y[index] = s.takesMaximum ? largest : (ELEMENT)(sum / (float)elements);
  }
}
