// The result of a sum of products of integers (`Requantization`).

// To the nearest of `float(sum + bias) * scale`, from a zero point and within bounds.
int requantized(int sum, int bias, float scale, int zero, int low, int high) {
  float scaled = roundEven(float(sum + bias) * scale);
  scaled = isUnordered(scaled) ? 0.0 : clamp(scaled, -65536.0, 65536.0);
  return clamp(int(scaled) + zero, low, high);
}
