// y = x / (k + share * sum of squares over neighbouring channels)^beta on blocked tensors. A work item processes up to
// `run` pixels of one block.

typedef struct {
  int channels, blocks, pixels, run, before, after;
  float k, share, beta;
} local_response_normalization_shape;

KERNEL void local_response_normalization(BUFFER(x), BUFFER(y), local_response_normalization_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.pixels);
  const int image = get_global_id(1) / s.blocks, block = get_global_id(1) % s.blocks;
  const int first = block * LANES, step = s.pixels * LANES;
  x += (size_t)image * s.blocks * step;
  y += ((size_t)image * s.blocks + block) * step;
  for (int pixel = start; pixel < end; pixel++) {
    float sums[LANES];
    for (int lane = 0; lane < LANES; lane++) {
      const int low = max(first + lane - s.before, 0), high = min(first + lane + s.after, s.channels - 1);
      sums[lane] = 0.0f;
      for (int c = low; c <= high; c++) {
        const float v = AT(x, (size_t)(c / LANES) * step + pixel * LANES + c % LANES);
        sums[lane] += v * v;
      }
    }
    const vec v = LOAD(x + (size_t)block * step + (size_t)pixel * LANES);
    STORE(v * pow(s.k + s.share * VECTOR(sums), (vec)-s.beta), y + (size_t)pixel * LANES);
  }
}
