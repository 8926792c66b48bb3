// Sums or products of two quantized 8-bit tensors, quantized to 8 bits again. Needs strided_iteration.cl.

typedef struct {
  int rowCount, length, rows, run, isProduct, xZero, yZero, zero, low, high;
  float xScale, yScale;   // in steps of the result; for a product xScale alone
  int xStep, yStep;
  int sizes[5], xStrides[5], yStrides[5];
} quantized_binary_shape;

KERNEL void quantized_binary(BUFFER(x), BUFFER(y), BUFFER(z), quantized_binary_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const ELEMENT, y);
  OPEN(ELEMENT, z);
  EACH_ROW(s) {
    const global ELEMENT *left = x + walked(row, s.sizes, s.xStrides);
    const global ELEMENT *right = y + walked(row, s.sizes, s.yStrides);
    global ELEMENT *target = z + (size_t)row * s.length;
    EACH_PLACE(s) {
      const float a = left[i * s.xStep] - s.xZero, b = right[i * s.yStep] - s.yZero;
      const float steps = rint(s.isProduct ? a * b * s.xScale : a * s.xScale + b * s.yScale);
      target[i] = (ELEMENT)(int)clamp((isnan(steps) ? 0.0f : steps) + (float)s.zero, (float)s.low, (float)s.high);
    }
  }
}
