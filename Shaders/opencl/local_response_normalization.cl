// y = x / (k + share * sum of squares over neighbouring channels)^beta on blocked tensors; a row has the pixels of one
// block.

typedef struct {
  ROW_PARAMETERS
  int blocks, channels, before, after;
  float k, share, beta;
} local_response_normalization_shape;

KERNEL void local_response_normalization(BUFFER(x), BUFFER(y), local_response_normalization_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int step = s.rowLength * LANES;
  EACH_ROW {
    const int block = row % s.blocks, first = block * LANES;
    const global STORED *image = x + (size_t)(row - block) * step;
    EACH_COLUMN {
      float sums[LANES];
      for (int lane = 0; lane < LANES; lane++) {
        const int low = max(first + lane - s.before, 0), high = min(first + lane + s.after, s.channels - 1);
        sums[lane] = 0.0f;
        for (int c = low; c <= high; c++) {
          const float v = AT(image, (size_t)(c / LANES) * step + column * LANES + c % LANES);
          sums[lane] += v * v;
        }
      }
      const vec v = LOAD(image + (size_t)block * step + (size_t)column * LANES);
      STORE(v * pow(s.k + s.share * VECTOR(sums), (vec)-s.beta), y + (size_t)row * step + (size_t)column * LANES);
    }
  }
}
