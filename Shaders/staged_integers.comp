#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef DOT
#extension GL_EXT_spirv_intrinsics : require
#endif
// Exact sums of products of 8-bit integers less their zero points, with constant weights, whose invocations share operands
// in local memory: a convolution of planes, one or many groups, as the product of its windows and weights; or rows times a
// matrix. A group computes HEIGHT positions of WIDTH columns, an invocation PIXELS positions of four columns. The depth, all
// taps' channels in words of four, is taken in slabs of 16 words; while one is multiplied, the next is read. Inputs, a word
// of memory each, are packed as they are staged.
//
// Bytes are multiplied as signed ones: four at once with DOT, else as floats, whose sums over a slab are exact. With bytes x
// and w, less zeros p and q, the sum is that of x * (w - q), less p times that of (w - q), which is packed with the weights.
// Positions outside the input are bytes of p, and weights beyond the depth are bytes of q.
//
// Weights: [group][tile of 16 columns][word of the depth, in whole slabs][16 columns], then for each tile the sums of 16
// columns less their zeros, then for each tile 16 zeros, both of signed bytes.
//
// Several groups may share the depth of a tile. Each writes its own sums, [share][result]; staged_integer_sum.comp adds them.
#include "common.glsl"
#include "integers.glsl"
#include "requantize.glsl"

layout(constant_id = 1) const int HEIGHT = 64;
layout(constant_id = 2) const int WIDTH = 64;
layout(constant_id = 3) const int PIXELS = 4;
layout(constant_id = 4) const bool WINDOWED = true;
layout(constant_id = 5) const bool ROWS = false;          // positions are rows of channels, else channels are planes
layout(constant_id = 6) const bool WHOLE = false;         // a tap's channels fill vectors of words
layout(constant_id = 7) const bool SIGNED_X = true;
layout(constant_id = 8) const bool ZEROS = true;          // of weights, as signed bytes, some are not 0
layout(constant_id = 9) const bool REQUANTIZES = false;

layout(push_constant) uniform Parameters {
  int positions;                  // of all images
  int groups, channels, columns;  // channels and columns of a group
  int words;                      // of a tap
  int columnTiles;                // WIDTH columns of one group each
  int shares, slabs;              // of the depth, and of one share
  int inputArea, outputArea, outputWidth;
  int height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth, inverseWords, inverseKernelX;
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)
WORD_VECTORS(2, weights)
WORDS(3, table)   // as in integer_product.comp
WORDS(4, zero)

const int SLAB = 16, VECTORS = SLAB / 4;                           // words, and vectors of them
const int ACROSS = WIDTH / 4, DOWN = HEIGHT / PIXELS;              // invocations
const int INVOCATIONS = ACROSS * DOWN;
const int LEFTS = VECTORS * HEIGHT / INVOCATIONS, RIGHTS = VECTORS * WIDTH / INVOCATIONS;   // that an invocation stages
// Lines are a little longer than their vectors, so that neighbours lie in different banks.
const int LEFT_LINE = HEIGHT + 2, RIGHT_TILE = 4 * SLAB + 4;
shared uvec4 lefts[VECTORS * LEFT_LINE];
shared uvec4 rights[WIDTH / 16 * RIGHT_TILE];

const uint ONES = 0x01010101u, SIGNS = 0x80808080u;

#ifdef DOT
// OpSDotKHR of PackedVectorFormat4x8Bit.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int packedDot(uint a, uint b, spirv_literal int format);
#define SUM int
#define SUMS ivec4
#define BYTES uint
#define BYTES_OF(word) (word)
#define DOT4(a, b) packedDot(a, b, 0)
#else
#define SUM float
#define SUMS vec4
#define BYTES vec4
#define BYTES_OF(word) \
  vec4(bitfieldExtract(int(word), 0, 8), bitfieldExtract(int(word), 8, 8), bitfieldExtract(int(word), 16, 8), \
       int(word) >> 24)
#define DOT4(a, b) dot(a, b)
#endif

// floor(a / d) for 0 <= a < 2^20, 0 < d, given 1.0 / d: half a unit is more than the product's error.
int smallQuotient(int a, float reciprocal) { return int((float(a) + 0.5) * reciprocal); }

void main() {
  int own = int(gl_LocalInvocationID.x);
  int plane = int(gl_WorkGroupID.y);
  int share = plane % shares;
  plane /= shares;
  int group = plane / columnTiles;
  int firstColumn = (plane - group * columnTiles) * WIDTH;
  int firstRow = groupPosition() * HEIGHT;
  int depth = kernelY * kernelX * words, allSlabs = (depth + SLAB - 1) / SLAB;
  int channelStep = ROWS ? 1 : inputArea;
  int xZero = int(zero(0).x);
  uint flip = SIGNED_X ? 0u : SIGNS, outside = (uint(xZero) & 0xFFu) * ONES;

  // An invocation stages vectors of one position; of rows, those of one place.
  int source[LEFTS], top = 0, left = 0;
  [[unroll]] for (int i = 0; i < LEFTS; i++) {
    int row = ROWS ? (i * INVOCATIONS + own) / VECTORS : own % HEIGHT;
    int position = min(firstRow + row, positions - 1);
    if (ROWS) {
      source[i] = position * channels;
    } else {
      int image = quotient(position, outputArea, inverseArea);
      int place = position - image * outputArea;
      source[i] = (image * groups + group) * channels * inputArea;
      if (WINDOWED) {
        int outputRow = quotient(place, outputWidth, inverseWidth);
        top = outputRow * strideY - beforeY;
        left = (place - outputRow * outputWidth) * strideX - beforeX;
      } else {
        source[i] += place;
      }
    }
  }
  int tiles = (columns + 15) / 16;
  int weight[RIGHTS];
  [[unroll]] for (int i = 0; i < RIGHTS; i++) {
    int tile = min(firstColumn / 16 + (i * INVOCATIONS + own) / (4 * SLAB), tiles - 1);
    weight[i] = (group * tiles + tile) * allSlabs * (4 * SLAB);
  }

  // Neighbours write neighbours: columns of rows, or positions of planes.
  int across = ROWS ? own % ACROSS : own / DOWN, down = ROWS ? own / ACROSS : own % DOWN;
  int column = firstColumn + 4 * across;
  int allTiles = groups * tiles, ends = allTiles * allSlabs * (4 * SLAB);
  int end4 = (group * tiles + min(column / 16, tiles - 1)) * 4 + across % 4;
  int xOffset = SIGNED_X ? 0 : 128;
  ivec4 sum[PIXELS];
  ivec4 start = share == 0 ? (xOffset - xZero) * ivec4(weights(ends + end4)) : ivec4(0);
  [[unroll]] for (int i = 0; i < PIXELS; i++) sum[i] = start;
  int xSum[PIXELS];
  [[unroll]] for (int i = 0; i < PIXELS; i++) xSum[i] = 0;

  // Packed only when they are stored, since an invocation waits for what it reads when it first needs it.
  uint words4[LEFTS * 16];
  bool inside[LEFTS * 4];
  uvec4 nextRights[RIGHTS];
  int slab = share * slabs, end = min(slab + slabs, allSlabs);
  for (int staged = slab - 1; staged < end; staged++) {
    if (staged >= slab) {
      [[unroll]] for (int i = 0; i < LEFTS; i++) {
        int at = i * INVOCATIONS + own;
        uvec4 four;
        [[unroll]] for (int w = 0; w < 4; w++) {
          uint bytes = words4[16 * i + 4 * w];
          [[unroll]] for (int c = 1; c < 4; c++) bytes = bitfieldInsert(bytes, words4[16 * i + 4 * w + c], 8 * c, 8);
          four[w] = (inside[4 * i + w] ? bytes : outside) ^ flip;
        }
        lefts[ROWS ? at % VECTORS * LEFT_LINE + at / VECTORS : at / HEIGHT * LEFT_LINE + at % HEIGHT] = four;
      }
      [[unroll]] for (int i = 0; i < RIGHTS; i++) {
        int at = i * INVOCATIONS + own;
        rights[at / (4 * SLAB) * RIGHT_TILE + at % (4 * SLAB)] = nextRights[i];
      }
      barrier();
    }
    if (staged + 1 < end) {
      [[unroll]] for (int i = 0; i < LEFTS; i++) {
        int at = i * INVOCATIONS + own;
        int k = (staged + 1) * SLAB + 4 * (ROWS ? at % VECTORS : at / HEIGHT);
        int from = 0, channel = 0;
        bool exists = true;
        [[unroll]] for (int w = 0; w < 4; w++) {
          if (WHOLE && w > 0) {
            from += 4 * channelStep;
          } else {
            // Weights beyond the depth take the last word's inputs, whatever these are, out of the sum.
            int word = min(k + w, depth - (WHOLE ? 4 : 1)), tap = 0;
            from = source[i];
            if (WINDOWED) {
              tap = smallQuotient(word, inverseWords);
              int ky = smallQuotient(tap, inverseKernelX), kx = tap - ky * kernelX;
              int iy = top + ky * dilationY, ix = left + kx * dilationX;
              exists = iy >= 0 && iy < height && ix >= 0 && ix < width;
              from += exists ? iy * width + ix : 0;
            }
            channel = 4 * (word - tap * words);
            from += channel * channelStep;
          }
          inside[4 * i + w] = exists;
          [[unroll]] for (int c = 0; c < 4; c++) {
            words4[16 * i + 4 * w + c] = x(from + (WHOLE ? c : min(c, channels - 1 - channel)) * channelStep).x;
          }
        }
      }
      [[unroll]] for (int i = 0; i < RIGHTS; i++) {
        nextRights[i] = weights(weight[i] + (staged + 1) * (4 * SLAB) + (i * INVOCATIONS + own) % (4 * SLAB));
      }
    }
    if (staged >= slab) {
      SUMS part[PIXELS];
      SUM xPart[PIXELS];
      [[unroll]] for (int i = 0; i < PIXELS; i++) part[i] = SUMS(0);
      [[unroll]] for (int i = 0; i < PIXELS; i++) xPart[i] = SUM(0);
      [[unroll]] for (int k = 0; k < VECTORS; k++) {
        uvec4 v[PIXELS];
        [[unroll]] for (int i = 0; i < PIXELS; i++) v[i] = lefts[k * LEFT_LINE + i * DOWN + down];
        [[unroll]] for (int w = 0; w < 4; w++) {
          uvec4 four = rights[across / 4 * RIGHT_TILE + (k * 4 + w) * 4 + across % 4];
          BYTES weightBytes[4];
          [[unroll]] for (int j = 0; j < 4; j++) weightBytes[j] = BYTES_OF(four[j]);
          [[unroll]] for (int i = 0; i < PIXELS; i++) {
            BYTES bytes = BYTES_OF(v[i][w]);
            [[unroll]] for (int j = 0; j < 4; j++) part[i][j] += DOT4(bytes, weightBytes[j]);
            if (ZEROS) xPart[i] += DOT4(bytes, BYTES_OF(ONES));
          }
        }
      }
      [[unroll]] for (int i = 0; i < PIXELS; i++) {
        sum[i] += ivec4(part[i]);
        xSum[i] += int(xPart[i]);
      }
      barrier();
    }
  }

  ivec4 weightZero = ZEROS ? ivec4(weights(ends + allTiles * 4 + end4)) : ivec4(0);
  int tail = 3 * groups * columns;
  int ownZero = int(table(tail).x), low = int(table(tail + 1).x), high = int(table(tail + 2).x);
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = firstRow + i * DOWN + down;
    int image = quotient(position, outputArea, inverseArea), place = position - image * outputArea;
    ivec4 result = sum[i] - weightZero * xSum[i];
    [[unroll]] for (int j = 0; j < 4; j++) {
      if (position < positions && column + j < columns) {
        int at = ROWS ? position * columns + column + j
          : ((image * groups + group) * columns + column + j) * outputArea + place;
        int entry = 3 * (group * columns + column + j);
        y[share * positions * groups * columns + at] = uint(REQUANTIZES
          ? requantized(result[j], int(table(entry + 1).x), uintBitsToFloat(table(entry + 2).x), ownZero, low, high)
          : result[j]);
      }
    }
  }
}
