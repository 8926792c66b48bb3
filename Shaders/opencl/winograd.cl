// A convolution of 3 x 3 taps on blocked tensors by Winograd's minimal filtering: tiles of SIDE x SIDE outputs are
// products of transformed tiles with transformed weights, which convolution.cl computes as groups of a pointwise
// convolution. Points are 0, +-1 and infinity. WinogradPlan.swift computes the weights at the points. A work item
// processes one tile of one block.

#define SIDE 2
#define LINE (SIDE + 2)
#define POINTS (LINE * LINE)
#define UNROLLED(i, count) _Pragma("unroll") for (int i = 0; i < count; i++)

typedef struct {
  int tiles, first;   // the number of tiles, and the index of the first among those of all images
  int blocks, rows, columns;   // blocks of channels; rows and columns of tiles of an image
  int inputHeight, inputWidth, height, width, top, left;
  int inputs, outputs, parts;   // channels; tiles of output channels in the weights
  int hasBias, hasResidual, activation;
  float a, b;
} winograd_shape;

// Transforms one line of a tile of inputs, and of sums; `from` and `to` are the distances of elements.
static inline void transform_inputs(const vec *d, int from, vec *v, int to) {
  v[0] = d[2 * from] - d[0];
  v[to] = d[2 * from] + d[from];
  v[2 * to] = d[2 * from] - d[from];
  v[3 * to] = d[3 * from] - d[from];
}

static inline void transform_sums(const vec *d, int from, vec *y, int to) {
  y[0] = d[0] + d[from] + d[2 * from];
  y[to] = d[from] - d[2 * from] + d[3 * from];
}

// Transforms inputs to [point][block][tile][LANES].
KERNEL void winograd_input(BUFFER(x), BUFFER(y), winograd_shape s) {
  OPEN(const float, x);
  OPEN(float, y);
  const int tile = get_global_id(0), block = get_global_id(1);
  if (tile >= s.tiles) return;
  const int place = (s.first + tile) % (s.rows * s.columns), image = (s.first + tile) / (s.rows * s.columns);
  const int top = place / s.columns * SIDE - s.top, left = place % s.columns * SIDE - s.left;
  const global float *from = x + (size_t)(image * s.blocks + block) * s.inputHeight * s.inputWidth * LANES;
  vec d[POINTS], t[POINTS];
  UNROLLED(i, LINE) UNROLLED(j, LINE) {
    const int row = top + i, column = left + j;
    const int inside = row >= 0 && row < s.inputHeight && column >= 0 && column < s.inputWidth;
    d[i * LINE + j] = inside ? LOAD(from + (size_t)(row * s.inputWidth + column) * LANES) : (vec)0.0f;
  }
  UNROLLED(j, LINE) transform_inputs(d + j, LINE, t + j, LINE);
  UNROLLED(i, LINE) transform_inputs(t + i * LINE, 1, d + i * LINE, 1);
  UNROLLED(point, POINTS) STORE(d[point], y + ((size_t)(point * s.blocks + block) * s.tiles + tile) * LANES);
}

// Transforms sums [point][block][tile][LANES] to outputs. If a sum is not below 2^32, the whole tile of a channel
// becomes NaN, and winograd_repair computes it from the taps.
KERNEL void winograd_output(BUFFER(x), BUFFER(bias), BUFFER(residual), BUFFER(y), winograd_shape s) {
  OPEN(const float, x);
  OPEN(const float, bias);
  OPEN(const float, residual);
  OPEN(float, y);
  const int tile = get_global_id(0), block = get_global_id(1);
  if (tile >= s.tiles) return;
  const vec offset = s.hasBias ? LOAD(bias + block * LANES) : (vec)0.0f;
  const int place = (s.first + tile) % (s.rows * s.columns), image = (s.first + tile) / (s.rows * s.columns);
  const int top = place / s.columns * SIDE, left = place % s.columns * SIDE;
  const size_t plane = (size_t)(image * s.blocks + block) * s.height * s.width;
  vec d[POINTS], t[SIDE * LINE], sums[SIDE * SIDE], largest = 0.0f;
  UNROLLED(point, POINTS) d[point] = LOAD(x + ((size_t)(point * s.blocks + block) * s.tiles + tile) * LANES);
  UNROLLED(j, LINE) transform_sums(d + j, LINE, t + j, LINE);
  UNROLLED(i, SIDE) transform_sums(t + i * LINE, 1, sums + i * SIDE, 1);
  UNROLLED(i, SIDE * SIDE) largest = larger(largest, fabs(sums[i]));
  for (int i = 0; i < min(SIDE, s.height - top); i++)
    for (int j = 0; j < min(SIDE, s.width - left); j++) {
      const size_t at = (plane + (size_t)(top + i) * s.width + left + j) * LANES;
      vec v = sums[i * SIDE + j] + offset;
      if (s.hasResidual) v += LOAD(residual + at);
      STORE(largest < 0x1p32f ? activate(s.activation, s.a, s.b, v) : (vec)NAN, y + at);
    }
}

// The points that determine a tap, and their weights.
static inline int point_of(int tap, int which) { return tap == 1 ? 1 + which : tap == 0 ? 0 : LINE - 1; }
static inline float share_of(int tap, int which) {
  if (tap == 1) return which ? -1.0f : 1.0f;
  return which ? 0.0f : tap == 0 ? -1.0f : 1.0f;
}

// Computes the tiles that winograd_output left as NaN from the taps. An input that is not finite makes a transformed
// tile invalid, and one that is far larger than the others costs them their digits. The tile's first results tell
// whether a channel needs it.
KERNEL void winograd_repair(BUFFER(x), BUFFER(w), BUFFER(bias), BUFFER(residual), BUFFER(y), winograd_shape s) {
  OPEN(const float, x);
  OPEN(const float, w);
  OPEN(const float, bias);
  OPEN(const float, residual);
  OPEN(float, y);
  const int tile = get_global_id(0), block = get_global_id(1);
  if (tile >= s.tiles) return;
  const int inputBlocks = (s.inputs + LANES - 1) / LANES;
  const int width = (s.blocks + s.parts - 1) / s.parts, part = block / width;
  const size_t step = (size_t)s.parts * s.inputs * width * LANES;
  const global float *own = w + ((size_t)part * s.inputs * width + block % width) * LANES;
  const int place = tile % (s.rows * s.columns), image = tile / (s.rows * s.columns);
  const int top = place / s.columns * SIDE, left = place % s.columns * SIDE;
  const size_t plane = (size_t)(image * s.blocks + block) * s.height * s.width;
  const ivec spoiled = isnan(LOAD(y + (plane + (size_t)top * s.width + left) * LANES));
  if (!any(spoiled)) return;
  for (int oy = top; oy < min(top + SIDE, s.height); oy++)
    for (int ox = left; ox < min(left + SIDE, s.width); ox++) {
      vec v = s.hasBias ? LOAD(bias + block * LANES) : (vec)0.0f;
      for (int tap = 0; tap < 9; tap++) {
        const int row = oy - s.top + tap / 3, column = ox - s.left + tap % 3;
        if (row < 0 || row >= s.inputHeight || column < 0 || column >= s.inputWidth) continue;
        for (int c = 0; c < s.inputs; c++) {
          const size_t from = (size_t)(image * inputBlocks + c / LANES) * s.inputHeight * s.inputWidth;
          vec k = 0.0f;
          for (int pair = 0; pair < 4; pair++) {
            const int point = point_of(tap / 3, pair / 2) * LINE + point_of(tap % 3, pair % 2);
            const float share = share_of(tap / 3, pair / 2) * share_of(tap % 3, pair % 2);
            if (share != 0.0f) k += share * LOAD(own + point * step + (size_t)c * width * LANES);
          }
          v += x[(from + row * s.inputWidth + column) * LANES + c % LANES] * k;
        }
      }
      const size_t at = (plane + (size_t)oy * s.width + ox) * LANES;
      if (s.hasResidual) v += LOAD(residual + at);
      STORE(spoiled ? activate(s.activation, s.a, s.b, v) : LOAD(y + at), y + at);
    }
}
