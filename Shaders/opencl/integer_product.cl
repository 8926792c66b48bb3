// Exact sums of products of 8-bit integers less their zero points. X, WEIGHT and RESULT are types; weights are [image
// or one][group][tap][channel][stored column]; the table has zero point, bias and scale of each column, then the
// result's zero point and bounds.

typedef struct {
  int positions, groups, channels, columns, stored, weightImage, areRows, requantizes;
  int outputDepth, outputHeight, outputWidth, depth, height, width;
  int kernelZ, kernelY, kernelX, strideZ, strideY, strideX, dilationZ, dilationY, dilationX, front, top, left;
  int parts;
} integer_product_shape;

static inline float scale_of(const global int *table, int column) { return as_float(table[3 * column + 2]); }

static inline vec rounded(ivec sum, ivec bias, vec scale, int zero, int low, int high) {
  const vec scaled = rint(JOIN(convert_float, LANES)(sum + bias) * scale);
  return clamp(select(scaled, (vec)0.0f, isnan(scaled)) + (float)zero, (vec)(float)low, (vec)(float)high);
}

// A work item computes PIXELS positions of two blocks of LANES columns. Sums are floats, which are exact below 2^24:
// that suffices for EXACT products, of at most 255 * 255 each, after which the sums are added to integers.
//
// With DOT four channels are multiplied at once, as signed bytes in a word, if the hardware has an instruction for it.
// Zero points are subtracted from the sums at the end: with bytes x and w, less zeros p and q, n of them, the sum is xw
// - q * x - p * w + n * p * q. Positions outside the input, and channels that pad a word, are bytes of p, and so add
// nothing.
#define EXACT 256
#define BLOCKS 2
#define CHUNK 16

#ifdef DOT
typedef JOIN(uint, LANES) words;
#define ONES 0x01010101u
// The mask that makes bytes of a type signed, and the offset that it subtracts.
#define SIGNS(TYPE) ((TYPE)-1 < 0 ? 0u : 0x80808080u)
#define OFFSET(TYPE) ((TYPE)-1 < 0 ? 0 : 128)

static inline int dot4(uint a, uint b) {
  const char4 p = as_char4(a), q = as_char4(b);
  return p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
}

// For vectors of four lanes, as on GPUs.
static inline ivec dots(uint a, words b) { return (ivec)(dot4(a, b.x), dot4(a, b.y), dot4(a, b.z), dot4(a, b.w)); }
#endif

KERNEL void integer_product(
    BUFFER(x), BUFFER(weights), BUFFER(table), BUFFER(zero), BUFFER(y), integer_product_shape s) {
  OPEN(const X, x);
  OPEN(const WEIGHT, weights);
  OPEN(const int, table);
  OPEN(const X, zero);
  OPEN(RESULT, y);
  const int first = get_global_id(0) * PIXELS, start = get_global_id(1) * BLOCKS * LANES, plane = get_global_id(2);
  if (first >= s.positions) return;
  const int image = plane / s.groups, group = plane % s.groups;
  const int area = s.depth * s.height * s.width;
  const int channelStep = s.areRows ? 1 : area, step = s.areRows ? s.channels : 1;
  const int taps = s.kernelZ * s.kernelY * s.kernelX;
  const float xZero = zero[0];
  x += (size_t)plane * s.channels * area;
  weights += (size_t)image * s.weightImage + (size_t)group * taps * s.channels * s.stored + start;
  // If there is no second block, the first is computed twice.
  const int second = start + LANES < s.stored ? LANES : 0;

  float zeros[BLOCKS * LANES], scales[BLOCKS * LANES];
  int biases[BLOCKS * LANES];
  for (int lane = 0; lane < BLOCKS * LANES; lane++) {
    const int column = group * s.columns + min(start + lane, s.columns - 1);
    zeros[lane] = table[3 * column];
    biases[lane] = table[3 * column + 1];
    scales[lane] = scale_of(table, column);
  }
  vec weightZero[BLOCKS];
  ivec total[PIXELS][BLOCKS];
  EACH_BLOCK(j) weightZero[j] = VECTOR(zeros + (j ? second : 0));
  EACH(i) EACH_BLOCK(j) total[i][j] = 0;
#ifdef DOT
  int valueSum[PIXELS], terms = 0;
  ivec weightSum[BLOCKS];
  EACH(i) valueSum[i] = 0;
  EACH_BLOCK(j) weightSum[j] = 0;
#else
  vec sum[PIXELS][BLOCKS];
  EACH(i) EACH_BLOCK(j) sum[i][j] = 0.0f;
  int pending = 0;
#endif
  for (int kz = 0; kz < s.kernelZ; kz++)
    for (int ky = 0; ky < s.kernelY; ky++)
      for (int kx = 0; kx < s.kernelX; kx++) {
        int from[PIXELS], inside = 1;
        for (int i = 0; i < PIXELS; i++) {
          const int position = min(first + i, s.positions - 1);
          const int line = position / s.outputWidth, slice = line / s.outputHeight;
          const int iz = slice * s.strideZ - s.front + kz * s.dilationZ;
          const int iy = (line - slice * s.outputHeight) * s.strideY - s.top + ky * s.dilationY;
          const int ix = (position - line * s.outputWidth) * s.strideX - s.left + kx * s.dilationX;
          const int is =
              iz >= 0 && iz < s.depth && iy >= 0 && iy < s.height && ix >= 0 && ix < s.width;
          from[i] = is ? ((iz * s.height + iy) * s.width + ix) * step : -1;
          inside &= is;
        }
#ifdef DOT
        for (int channel = 0; channel < s.channels; channel += 4) {
          const int count = min(s.channels - channel, 4);
          const global X *elements = x + (size_t)channel * channelStep;
          uint values[PIXELS];
          EACH(i) {
            uchar4 bytes = (uchar4)(uchar)zero[0];
            if (from[i] >= 0) {
              const global X *own = elements + from[i];
              bytes.x = (uchar)own[0];
              if (count > 1) bytes.y = (uchar)own[channelStep];
              if (count > 2) bytes.z = (uchar)own[2 * (size_t)channelStep];
              if (count > 3) bytes.w = (uchar)own[3 * (size_t)channelStep];
            }
            values[i] = as_uint(bytes) ^ SIGNS(X);
            valueSum[i] += dot4(values[i], ONES);
          }
          EACH_BLOCK(j) {
            // Weights of padding rows are multiplied by bytes of x's zero point, like all padding.
            words w = 0;
            for (int c = 0; c < 4; c++) {
              const global uchar *row = (const global uchar *)weights + (size_t)min(c, count - 1) * s.stored;
              w |= JOIN(convert_uint, LANES)(VECTOR(row + (j ? second : 0))) << (uint)(8 * c);
            }
            w ^= SIGNS(WEIGHT);
            weightSum[j] += dots(ONES, w);
            EACH(i) total[i][j] += dots(values[i], w);
          }
          weights += (size_t)count * s.stored;
          terms += 4;
        }
#else
        int isRun = inside && !s.areRows;
        for (int i = 1; i < PIXELS; i++) isRun &= from[i] == from[0] + i;
        for (int chunk = 0; chunk < s.channels; chunk += CHUNK) {
          const int count = min(s.channels - chunk, CHUNK);
          const global X *elements = x + (size_t)chunk * channelStep;
          float values[CHUNK * PIXELS];
          if (isRun) {
            for (int c = 0; c < count; c++)
              JOIN(vstore, PIXELS)
              (JOIN(convert_float, PIXELS)(JOIN(vload, PIXELS)(0, elements + (size_t)c * channelStep + from[0])) - xZero, 0,
               values + c * PIXELS);
          } else {
            for (int i = 0; i < PIXELS; i++)
              for (int c = 0; c < count; c++)
                values[c * PIXELS + i] = from[i] < 0 ? 0.0f : elements[(size_t)c * channelStep + from[i]] - xZero;
          }
          if (pending + count > EXACT) {
            EACH(i) EACH_BLOCK(j) {
              total[i][j] += JOIN(convert_int, LANES)(sum[i][j]);
              sum[i][j] = 0.0f;
            }
            pending = 0;
          }
          pending += count;
          for (int c = 0; c < count; c++, weights += s.stored) {
            vec w[BLOCKS];
            EACH_BLOCK(j)
            w[j] = JOIN(convert_float, LANES)(VECTOR(weights + (j ? second : 0))) - weightZero[j];
            EACH(i) {
              const vec value = values[c * PIXELS + i];
              EACH_BLOCK(j) sum[i][j] = MULTIPLY_ADD(value, w[j], sum[i][j]);
            }
          }
        }
#endif
      }
#ifdef DOT
  const int valueZero = (int)zero[0] - OFFSET(X);
  EACH_BLOCK(j) {
    const ivec own = JOIN(convert_int, LANES)(weightZero[j]) - OFFSET(WEIGHT);
    EACH(i) total[i][j] -= own * valueSum[i] + valueZero * (weightSum[j] - terms * own);
  }
#else
  EACH(i) EACH_BLOCK(j) total[i][j] += JOIN(convert_int, LANES)(sum[i][j]);
#endif

  ivec sums[PIXELS * BLOCKS];
  EACH(i) EACH_BLOCK(j) sums[j * PIXELS + i] = total[i][j];
  const global int *tail = table + 3 * s.groups * s.columns;
  for (int j = 0; j < BLOCKS; j++) {
    const int begin = start + j * LANES, count = min(s.columns - begin, LANES);
    if (count <= 0) continue;
    const ivec bias = JOIN(vload, LANES)(0, biases + j * LANES);
    const vec scale = VECTOR(scales + j * LANES);
    for (int i = 0; i < PIXELS && first + i < s.positions; i++) {
      ivec v = sums[j * PIXELS + i];
      if (s.requantizes) v = JOIN(convert_int, LANES)(rounded(v, bias, scale, tail[0], tail[1], tail[2]));
      int lanes[LANES];
      JOIN(vstore, LANES)(v, 0, lanes);
      global RESULT *target = s.areRows
          ? y + ((size_t)image * s.positions + first + i) * s.columns + begin
          : y + ((size_t)plane * s.columns + begin) * s.positions + first + i;
      const size_t laneStep = s.areRows ? 1 : s.positions;
      for (int lane = 0; lane < count; lane++) target[lane * laneStep] = lanes[lane];
    }
  }
}

// The same for groups with few columns: a work item computes up to ROW results of one row of one column.
KERNEL void integer_product_lines(
    BUFFER(x), BUFFER(weights), BUFFER(table), BUFFER(zero), BUFFER(y), integer_product_shape s) {
  OPEN(const X, x);
  OPEN(const WEIGHT, weights);
  OPEN(const int, table);
  OPEN(const X, zero);
  OPEN(RESULT, y);
  const int item = get_global_id(0), channel = get_global_id(1), image = get_global_id(2);
  const int line = item / s.parts, start = item % s.parts * ROW;
  if (line >= s.outputDepth * s.outputHeight) return;
  const int count = min(s.outputWidth - start, ROW);
  const int slice = line / s.outputHeight, oy = line % s.outputHeight;
  const int group = channel / s.columns, area = s.depth * s.height * s.width;
  const int taps = s.kernelZ * s.kernelY * s.kernelX;
  const int xZero = zero[0], weightZero = table[3 * channel];
  x += (size_t)(image * s.groups + group) * s.channels * area;
  weights += (size_t)group * taps * s.channels * s.stored + channel % s.columns;
  int sum[ROW];
  for (int i = 0; i < ROW; i++) sum[i] = 0;
  for (int kz = 0; kz < s.kernelZ; kz++)
    for (int ky = 0; ky < s.kernelY; ky++)
      for (int kx = 0; kx < s.kernelX; kx++) {
        const int iz = slice * s.strideZ - s.front + kz * s.dilationZ, iy = oy * s.strideY - s.top + ky * s.dilationY;
        const int tap = (kz * s.kernelY + ky) * s.kernelX + kx;
        if (iz < 0 || iz >= s.depth || iy < 0 || iy >= s.height) continue;
        // The positions of the row whose tap is inside the input.
        const int left = start * s.strideX - s.left + kx * s.dilationX;
        const int low = left < 0 ? (s.strideX - 1 - left) / s.strideX : 0;
        const int high = left < s.width ? min(count, (s.width - 1 - left) / s.strideX + 1) : 0;
        for (int c = 0; c < s.channels; c++) {
          const global X *row = x + (size_t)c * area + (size_t)(iz * s.height + iy) * s.width;
          const int w = weights[(size_t)(tap * s.channels + c) * s.stored] - weightZero;
          for (int i = low; i < high; i++) sum[i] += (row[left + i * s.strideX] - xZero) * w;
        }
      }
  const global int *tail = table + 3 * s.groups * s.columns;
  const int bias = table[3 * channel + 1], zeroPoint = tail[0], least = tail[1], most = tail[2];
  const float scale = scale_of(table, channel);
  y += ((size_t)image * s.groups * s.columns + channel) * s.positions + (size_t)line * s.outputWidth + start;
  for (int i = 0; i < count; i++) {
    const float scaled = rint((float)(sum[i] + bias) * scale);
    const int steps = (int)clamp((isnan(scaled) ? 0.0f : scaled) + (float)zeroPoint, (float)least, (float)most);
    y[i] = s.requantizes ? (RESULT)steps : (RESULT)sum[i];
  }
}
