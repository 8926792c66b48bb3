// Converts floats to integers of at most 32 bits, by scaling.cl.

KERNEL void quantize(BUFFER(x), BUFFER(scale), BUFFER(zero), BUFFER(y), scaling_shape s) {
  OPEN(const float, x);
  OPEN(const float, scale);
  OPEN(const ELEMENT, zero);
  OPEN(ELEMENT, y);
  PARAMETERS;
  EACH_ELEMENT(i) {
    const size_t place = first + (size_t)i * s.innerStride;
    // Division may be wrong in the last digit; the remainder corrects it.
    float q = x[i] / scale[place];
    const float rest = fma(-q, scale[place], x[i]);
    if (fabs(q) < 16777216.0f && !isnan(rest)) q += rest / scale[place];
    y[i] = SATURATE(isnan(q) ? 0L : (long)convert_long_sat(clamp(rint(q), -8e9f, 8e9f)) + (long)zero[place]);
  }
}
