#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Convolutions of few channels, whose windows overlap. A group computes a rectangle of LINES by COLUMNS positions of WIDTH
// output channels, an invocation PIXELS positions of a block of four. All that these windows see of the input is in local
// memory, so that the group reads it once, not once for each tap; the depth is taken in slabs of weights. Weights and the
// order of sums are those of staged_product.comp.
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 1) const int LINES = 8;
layout(constant_id = 2) const int COLUMNS = 16;
layout(constant_id = 3) const int WIDTH = 16;
layout(constant_id = 4) const int PIXELS = 8;
layout(constant_id = 5) const int SEEN = 180;        // vectors of the input that a rectangle's windows see
layout(constant_id = 6) const bool RESIDUAL = false;
layout(constant_id = 7) const uint ACTIVATION = UNARY_NONE;

layout(push_constant) uniform Parameters {
  int inputBlocks, outputBlocks, channels;           // channels of the output
  int rectangles, down, across;                      // of all images, and along the sides of one
  int outputHeight, outputWidth, height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseBlocks, inverseKernelX;
  float first, second;
};

RESULTS(y)
VECTORS(1, x)
HALF_VECTORS(2, weights)
VECTORS(3, bias)
VECTORS(4, residual)

const int SLAB = 4;                                  // input blocks
const int BLOCKS = WIDTH / 4, STRIDE = LINES * COLUMNS / PIXELS, INVOCATIONS = BLOCKS * STRIDE;
const int RIGHTS = SLAB * WIDTH / INVOCATIONS;       // vectors of weights that an invocation stages
const int TOGETHER = 4;                              // vectors of the input that it reads together
// Tiles of weights are a little longer than their vectors, so that neighbours lie in different banks.
const int RIGHT_TILE = 16 * SLAB + 4;
shared vec4 seen[SEEN + 1];                          // the last is zero
shared vec4 rights[WIDTH / 16 * RIGHT_TILE];

// floor(a / d) for 0 <= a < 2^20, 0 < d, given 1.0 / d: half a unit is more than the product's error.
int smallQuotient(int a, float reciprocal) { return int((float(a) + 0.5) * reciprocal); }

void main() {
  int own = int(gl_LocalInvocationID.x);
  int firstBlock = int(gl_WorkGroupID.y) * BLOCKS;
  int rectangle = min(groupPosition(), rectangles - 1);
  int image = rectangle / (down * across);
  rectangle -= image * down * across;
  int firstLine = rectangle / across * LINES, firstColumn = rectangle % across * COLUMNS;
  int top = firstLine * strideY - beforeY, left = firstColumn * strideX - beforeX;
  int seenWidth = (COLUMNS - 1) * strideX + (kernelX - 1) * dilationX + 1;
  int seenArea = SEEN / inputBlocks;
  int source = image * inputBlocks * height * width;

  float inverseWidth = 1.0 / float(seenWidth), inverseArea = 1.0 / float(seenArea);
  for (int start = own; start < SEEN; start += TOGETHER * INVOCATIONS) {
    vec4 next[TOGETHER];
    [[unroll]] for (int i = 0; i < TOGETHER; i++) {
      int at = min(start + i * INVOCATIONS, SEEN - 1);
      int block = smallQuotient(at, inverseArea), place = at - block * seenArea;
      int line = smallQuotient(place, inverseWidth);
      int iy = top + line, ix = left + place - line * seenWidth;
      bool inside = uint(iy) < uint(height) && uint(ix) < uint(width);
      vec4 four = x(source + block * height * width + (inside ? iy * width + ix : 0));
      next[i] = inside ? four : vec4(0);
    }
    [[unroll]] for (int i = 0; i < TOGETHER; i++) seen[min(start + i * INVOCATIONS, SEEN - 1)] = next[i];
  }
  if (own == 0) seen[SEEN] = vec4(0);

  int block = own % BLOCKS, row = own / BLOCKS;
  int place[PIXELS];
  vec4 sum[PIXELS];
  vec4 begin = bias(min(firstBlock + block, outputBlocks - 1));
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = i * STRIDE + row;
    place[i] = position / COLUMNS * strideY * seenWidth + position % COLUMNS * strideX;
    sum[i] = begin;
  }
  int tiles = (outputBlocks + 3) / 4, depth = kernelY * kernelX * inputBlocks;
  int weight[RIGHTS];
  [[unroll]] for (int i = 0; i < RIGHTS; i++) {
    weight[i] = min(firstBlock / 4 + (i * INVOCATIONS + own) / (16 * SLAB), tiles - 1) * depth * 16;
  }

  vec4 nextRights[RIGHTS];
  int slabs = (depth + SLAB - 1) / SLAB;
  for (int slab = -1; slab < slabs; slab++) {
    if (slab >= 0) {
      [[unroll]] for (int i = 0; i < RIGHTS; i++) {
        int at = i * INVOCATIONS + own;
        rights[at / (16 * SLAB) * RIGHT_TILE + at % (16 * SLAB)] = nextRights[i];
      }
      barrier();
    }
    if (slab + 1 < slabs) {
      [[unroll]] for (int i = 0; i < RIGHTS; i++) {
        int at = (slab + 1) * (16 * SLAB) + (i * INVOCATIONS + own) % (16 * SLAB);
        vec4 four = weights(weight[i] + min(at, depth * 16 - 1));
        nextRights[i] = at < depth * 16 ? four : vec4(0);
      }
    }
    if (slab >= 0) {
      [[unroll]] for (int k = 0; k < SLAB; k++) {
        // Beyond the depth all read zero, as weights are, since the input may hold infinities.
        int at = slab * SLAB + k, used = at < depth ? -1 : 0;
        int tap = smallQuotient(at, inverseBlocks), ky = smallQuotient(tap, inverseKernelX);
        int offset = at < depth
          ? (at - tap * inputBlocks) * seenArea + ky * dilationY * seenWidth + (tap - ky * kernelX) * dilationX : SEEN;
        vec4 v[PIXELS];
        [[unroll]] for (int i = 0; i < PIXELS; i++) v[i] = seen[(place[i] & used) + offset];
        [[unroll]] for (int c = 0; c < 4; c++) {
          vec4 column = rights[block / 4 * RIGHT_TILE + (k * 4 + c) * 4 + block % 4];
          [[unroll]] for (int i = 0; i < PIXELS; i++) sum[i] = fma(vec4(v[i][c]), column, sum[i]);
        }
      }
      barrier();
    }
  }

  block += firstBlock;
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = i * STRIDE + row;
    int line = firstLine + position / COLUMNS, column = firstColumn + position % COLUMNS;
    if (line < outputHeight && column < outputWidth && block < outputBlocks) {
      int target = ((image * outputBlocks + block) * outputHeight + line) * outputWidth + column;
      vec4 result = sum[i];
      if (RESIDUAL) result += residual(target);
      result = ACTIVATED(result);
      ivec4 channel = block * 4 + ivec4(0, 1, 2, 3);
      STORE_RESULT(y, target, mix(vec4(0), result, lessThan(channel, ivec4(channels))));
    }
  }
}
