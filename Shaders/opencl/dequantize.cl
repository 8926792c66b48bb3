// Converts integers of at most 32 bits to floats, by scaling.cl.

KERNEL void dequantize(BUFFER(x), BUFFER(scale), BUFFER(zero), BUFFER(y), scaling_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const float, scale);
  OPEN(const ELEMENT, zero);
  OPEN(float, y);
  PARAMETERS;
  EACH_ELEMENT(i) {
    const size_t place = first + (size_t)i * s.innerStride;
    y[i] = convert_float((long)x[i] - (long)zero[place]) * scale[place];
  }
}
