#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Products with constant weights whose invocations share operands in local memory: a convolution on blocked tensors, one or
// many groups, as the product of its windows and weights; or rows times a matrix, whose rows are positions that hold all
// their channels side by side. A group computes HEIGHT positions of WIDTH output channels, an invocation PIXELS positions of
// 4 * BLOCKS channels. The depth, all taps' input blocks in the order of the weights, is taken in slabs of 16; while one is
// multiplied, the next is read. Sums begin with the bias and run along the depth, as those of convolution.comp do. The phases
// of a transposed convolution stand in the place of groups, as there.
//
// Weights: [group][tile of 16 output channels][tap][input block][4 input channels][16 output channels].
//
// With PARTS several groups share the depth of a tile, and each writes its own sums, [share][result]; staged_sum.comp adds
// them.
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 1) const int HEIGHT = 64;
layout(constant_id = 2) const int WIDTH = 64;
layout(constant_id = 3) const int PIXELS = 4;
layout(constant_id = 4) const int BLOCKS = 1;
layout(constant_id = 5) const bool WINDOWED = true;
layout(constant_id = 6) const bool RESIDUAL = false;
layout(constant_id = 7) const uint ACTIVATION = UNARY_NONE;
layout(constant_id = 8) const bool ROWS = false;
layout(constant_id = 9) const bool TRANSPOSED = false;

layout(push_constant) uniform Parameters {
  int inputBlocks;    // of the whole input
  int groupBlocks;    // of the input of one group
  int outputBlocks;   // of the whole output
  int ownBlocks;      // of the output of one group
  int channels;       // of the output
  int positions;      // batch * output height * output width
  int columnTiles;    // WIDTH output channels of one group each
  int shares, slabs;  // of the depth, and of one share
  int inputArea, outputArea, outputWidth;
  int height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth, inverseBlocks, inverseKernelX;
  float first, second;
  int spreadHeight, spreadWidth;   // of a transposed one's output, whose sizes above are those of a phase
};

#ifdef PARTS
layout(binding = 0) writeonly buffer Output { vec4 y[]; };
#else
RESULTS(y)
#endif
VECTORS(1, x)
HALF_VECTORS(2, weights)
VECTORS(3, bias)
VECTORS(4, residual)

const int SLAB = 4;                                    // input blocks
const int ACROSS = WIDTH / (4 * BLOCKS), DOWN = HEIGHT / PIXELS;   // invocations
const int INVOCATIONS = ACROSS * DOWN;
const int LEFTS = SLAB * HEIGHT / INVOCATIONS, RIGHTS = SLAB * WIDTH / INVOCATIONS;   // vectors an invocation stages
// Lines are a little longer than their vectors, so that neighbours lie in different banks.
const int LEFT_LINE = HEIGHT + 2, RIGHT_TILE = 16 * SLAB + 4;
shared vec4 lefts[SLAB * LEFT_LINE];
shared vec4 rights[WIDTH / 16 * RIGHT_TILE];

// floor(a / d) for 0 <= a < 2^20, 0 < d, given 1.0 / d: half a unit is more than the product's error.
int smallQuotient(int a, float reciprocal) { return int((float(a) + 0.5) * reciprocal); }

void main() {
  int own = int(gl_LocalInvocationID.x);
  int plane = int(gl_WorkGroupID.y);
  int share = plane % shares;
  plane /= shares;
  int group = plane / columnTiles;
  int firstColumn = (plane - group * columnTiles) * (WIDTH / 4);   // a block of the group's output
  int firstRow = groupPosition() * HEIGHT;
  int phaseY = TRANSPOSED ? group / strideX : 0, phaseX = TRANSPOSED ? group - phaseY * strideX : 0;
  int tapsY = kernelY, tapsX = kernelX, mostTaps = kernelY * kernelX;
  if (TRANSPOSED) {
    tapsY = (kernelY - phaseY + strideY - 1) / strideY;
    tapsX = (kernelX - phaseX + strideX - 1) / strideX;
    mostTaps = ((kernelY + strideY - 1) / strideY) * ((kernelX + strideX - 1) / strideX);
  }
  float inverseTapsX = TRANSPOSED ? 1.0 / float(tapsX) : inverseKernelX;
  int depth = tapsY * tapsX * groupBlocks;
  int firstOutput = (TRANSPOSED ? 0 : group * ownBlocks) + firstColumn;

  // An invocation stages vectors of one position and several blocks; of rows, those of one block.
  int source[LEFTS], top = 0, left = 0;
  [[unroll]] for (int i = 0; i < LEFTS; i++) {
    int row = ROWS ? (i * INVOCATIONS + own) / SLAB : own % HEIGHT;
    int position = min(firstRow + row, positions - 1);
    if (ROWS) {
      source[i] = position * inputBlocks;
    } else {
      int batch = quotient(position, outputArea, inverseArea);
      int place = position - batch * outputArea;
      source[i] = (batch * inputBlocks + (TRANSPOSED ? 0 : group * groupBlocks)) * inputArea;
      if (WINDOWED) {
        int outputRow = quotient(place, outputWidth, inverseWidth);
        int outputColumn = place - outputRow * outputWidth;
        top = TRANSPOSED ? outputRow + beforeY / strideY : outputRow * strideY - beforeY;
        left = TRANSPOSED ? outputColumn + beforeX / strideX : outputColumn * strideX - beforeX;
      } else {
        source[i] += place;
      }
    }
  }
  int tiles = (ownBlocks + 3) / 4;
  int weight[RIGHTS];
  [[unroll]] for (int i = 0; i < RIGHTS; i++) {
    int tile = min(firstColumn / 4 + (i * INVOCATIONS + own) / (16 * SLAB), tiles - 1);
    weight[i] = (group * tiles + tile) * mostTaps * groupBlocks * 16;
  }

  int across = own % ACROSS, down = own / ACROSS;
  vec4 sum[PIXELS * BLOCKS];
  [[unroll]] for (int b = 0; b < BLOCKS; b++) {
    int block = min(firstOutput + b * ACROSS + across, outputBlocks - 1);
    vec4 start = share == 0 ? bias(block) : vec4(0);
    [[unroll]] for (int i = 0; i < PIXELS; i++) sum[i * BLOCKS + b] = start;
  }

  vec4 nextLefts[LEFTS], nextRights[RIGHTS];
  int slab = share * slabs, end = min(slab + slabs, (depth + SLAB - 1) / SLAB);
  for (int staged = slab - 1; staged < end; staged++) {
    if (staged >= slab) {
      [[unroll]] for (int i = 0; i < LEFTS; i++) {
        int at = i * INVOCATIONS + own;
        lefts[ROWS ? at % SLAB * LEFT_LINE + at / SLAB : at / HEIGHT * LEFT_LINE + at % HEIGHT] = nextLefts[i];
      }
      [[unroll]] for (int i = 0; i < RIGHTS; i++) {
        int at = i * INVOCATIONS + own;
        rights[at / (16 * SLAB) * RIGHT_TILE + at % (16 * SLAB)] = nextRights[i];
      }
      barrier();
    }
    if (staged + 1 < end) {
      [[unroll]] for (int i = 0; i < LEFTS; i++) {
        int at = i * INVOCATIONS + own;
        int k = (staged + 1) * SLAB + (ROWS ? at % SLAB : at / HEIGHT);
        bool inside = k < depth;
        k = min(k, depth - 1);
        int from = source[i];
        if (WINDOWED) {
          int tap = smallQuotient(k, inverseBlocks);
          int ky = smallQuotient(tap, inverseTapsX), kx = tap - ky * tapsX;
          int iy = top + (TRANSPOSED ? -ky : ky) * dilationY, ix = left + (TRANSPOSED ? -kx : kx) * dilationX;
          inside = inside && iy >= 0 && iy < height && ix >= 0 && ix < width;
          from += (k - tap * groupBlocks) * inputArea + (inside ? iy * width + ix : 0);
        } else {
          from += ROWS ? k : k * inputArea;
        }
        vec4 four = x(from);
        nextLefts[i] = inside ? four : vec4(0);
      }
      [[unroll]] for (int i = 0; i < RIGHTS; i++) {
        int at = (staged + 1) * (16 * SLAB) + (i * INVOCATIONS + own) % (16 * SLAB);
        vec4 four = weights(weight[i] + min(at, depth * 16 - 1));
        nextRights[i] = at < depth * 16 ? four : vec4(0);
      }
    }
    if (staged >= slab) {
      [[unroll]] for (int k = 0; k < SLAB; k++) {
        vec4 v[PIXELS];
        [[unroll]] for (int i = 0; i < PIXELS; i++) v[i] = lefts[k * LEFT_LINE + i * DOWN + down];
        [[unroll]] for (int b = 0; b < BLOCKS; b++) {
          int block = b * ACROSS + across;
          [[unroll]] for (int c = 0; c < 4; c++) {
            vec4 column = rights[block / 4 * RIGHT_TILE + (k * 4 + c) * 4 + block % 4];
            [[unroll]] for (int i = 0; i < PIXELS; i++) {
              sum[i * BLOCKS + b] = fma(vec4(v[i][c]), column, sum[i * BLOCKS + b]);
            }
          }
        }
      }
      barrier();
    }
  }

  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = firstRow + i * DOWN + down;
    int batch = quotient(position, outputArea, inverseArea), place = position - batch * outputArea;
    int area = outputArea;
    bool exists = position < positions;
    if (TRANSPOSED) {
      int row = quotient(place, outputWidth, inverseWidth);
      int oy = row * strideY + phaseY - beforeY % strideY;
      int ox = (place - row * outputWidth) * strideX + phaseX - beforeX % strideX;
      exists = exists && oy >= 0 && oy < spreadHeight && ox >= 0 && ox < spreadWidth;
      area = spreadHeight * spreadWidth;
      place = oy * spreadWidth + ox;
    }
    [[unroll]] for (int b = 0; b < BLOCKS; b++) {
      int column = b * ACROSS + across, block = firstOutput + column;
      if (exists && firstColumn + column < ownBlocks) {
        int target = ROWS ? position * outputBlocks + block : (batch * outputBlocks + block) * area + place;
        vec4 result = sum[i * BLOCKS + b];
#ifdef PARTS
        y[share * positions * outputBlocks + target] = result;
#else
        if (RESIDUAL) result += residual(target);
        result = ACTIVATED(result);
        ivec4 channel = block * 4 + ivec4(0, 1, 2, 3);
        STORE_RESULT(y, target, mix(vec4(0), result, lessThan(channel, ivec4(channels))));
#endif
      }
    }
  }
}
