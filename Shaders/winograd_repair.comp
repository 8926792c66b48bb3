#version 450
#extension GL_GOOGLE_include_directive : require
// Results that a convolution by Winograd's tiles left as not-a-number, computed from the taps: an input that is not finite
// spoils a transformed tile, and one that is far larger than all others costs these their digits. One tile of a block an
// invocation, whose channels are looked at by the tile's first results. Weights: [point][output tile][input channel][4 *
// BLOCKS output channels].
#include "common.glsl"
#include "functions.glsl"
#include "lanes.glsl"
#include "winograd.glsl"

layout(constant_id = 1) const bool RESIDUAL = false;
layout(constant_id = 2) const uint ACTIVATION = UNARY_NONE;
layout(constant_id = 3) const int BLOCKS = 2;

layout(push_constant) uniform Parameters {
  int count;
  int tiles;   // of all images
  int blocks, storedBlocks, rows, columns;   // of the output, of the weights; tiles of an image
  int outputHeight, outputWidth, channels;
  int inputBlocks, height, width, beforeY, beforeX;
  float inverseTiles, inverseArea, inverseColumns;
  float first, second;
};

layout(binding = 0) buffer Output { STORED_VECTOR y[]; };
VECTORS(1, x)
WIDE_VECTORS(2, weights)
VECTORS(3, bias)
VECTORS(4, residual)

// The points that tell a tap, and with which share.
#ifdef LARGE
const float FIRST = 1.0, SECOND = -0.75 * FAR;
#else
const float FIRST = -1.0, SECOND = 1.0;
#endif
ivec2 points(int tap) { return tap == 0 ? ivec2(0) : tap == 1 ? ivec2(1, 2) : ivec2(SIDE - 1); }
vec2 shares(int tap) {
  return tap == 0 ? vec2(FIRST, 0.0) : tap == 1 ? vec2(SECOND, -SECOND) : vec2(1.0, 0.0);
}

// The weights of four output channels.
vec4 filterTap(ivec2 tap, int channel, int block, int inputBlocks, int storedBlocks) {
  ivec2 rows = points(tap.y), columns = points(tap.x);
  vec2 rowShares = shares(tap.y), columnShares = shares(tap.x);
  vec4 sum = vec4(0);
  for (int i = 0; i < (tap.y == 1 ? 2 : 1); i++) {
    for (int j = 0; j < (tap.x == 1 ? 2 : 1); j++) {
      int part = (rows[i] * SIDE + columns[j]) * (storedBlocks / BLOCKS) + block / BLOCKS;
      sum += rowShares[i] * columnShares[j] * weights((part * inputBlocks * 4 + channel) * BLOCKS + block % BLOCKS);
    }
  }
  return sum;
}

vec4 sumOfTaps(ivec2 corner, int image, int block, int inputBlocks, int storedBlocks, int height, int width) {
  vec4 sum = vec4(0);
  for (int ky = 0; ky < 3; ky++) {
    for (int kx = 0; kx < 3; kx++) {
      ivec2 from = corner + ivec2(kx, ky);
      bool inside = from.y >= 0 && from.y < height && from.x >= 0 && from.x < width;
      int place = inside ? from.y * width + from.x : 0;
      for (int group = 0; group < inputBlocks; group++) {
        vec4 own = x((image * inputBlocks + group) * height * width + place);
        vec4 v = inside ? own : vec4(0);
        for (int c = 0; c < 4; c++) sum = fma(vec4(v[c]), filterTap(ivec2(kx, ky), group * 4 + c, block, inputBlocks, storedBlocks), sum);
      }
    }
  }
  return sum;
}

void main() {
  EARLY(int, tiles)
  EARLY(int, blocks)
  EARLY(int, rows)
  EARLY(int, columns)
  EARLY(int, storedBlocks)
  EARLY(int, inputBlocks)
  EARLY(int, height)
  EARLY(int, width)
  EARLY(int, outputHeight)
  EARLY(int, outputWidth)
  EARLY(int, beforeY)
  EARLY(int, beforeX)
  EARLY(float, inverseTiles)
  EARLY(float, inverseArea)
  EARLY(float, inverseColumns)
  EARLY(float, first)
  EARLY(float, second)
  int index = flatPosition();
  if (index >= count) return;
  int block = quotient(index, tiles, inverseTiles);
  int own = index - block * tiles;
  int image = quotient(own, rows * columns, inverseArea);
  int place = own - image * rows * columns;
  int row = quotient(place, columns, inverseColumns);
  ivec2 start = ivec2(place - row * columns, row) * TILE;
  int plane = (image * blocks + block) * outputHeight * outputWidth;
  bvec4 isSpoiled = isUnordered(vec4(y[plane + start.y * outputWidth + start.x]));
  if (!any(isSpoiled)) return;
  for (int i = 0; i < TILE; i++) {
    for (int j = 0; j < TILE; j++) {
      ivec2 at = start + ivec2(j, i);
      bool exists = at.y < outputHeight && at.x < outputWidth;
      int target = plane + (exists ? at.y * outputWidth + at.x : 0);
      ivec2 corner = at - ivec2(beforeX, beforeY);
      vec4 result = sumOfTaps(corner, image, block, inputBlocks, storedBlocks, height, width) + bias(block);
      if (RESIDUAL) result += residual(target);
      result = ACTIVATED(result);
      if (exists) y[target] = STORED_VECTOR(mix(vec4(y[target]), result, isSpoiled));
    }
  }
}
