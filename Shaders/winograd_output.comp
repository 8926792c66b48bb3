#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Sums at Winograd's points, [point][stored block][tile][4], brought to outputs of a blocked tensor, one tile of a block an
// invocation. If a sum is not below 2^32, a channel's whole tile is set to not-a-number, and winograd_repair.comp computes it
// from the taps.
#include "common.glsl"
#include "functions.glsl"
#include "lanes.glsl"
#include "winograd.glsl"

layout(constant_id = 1) const bool RESIDUAL = false;
layout(constant_id = 2) const uint ACTIVATION = UNARY_NONE;

layout(push_constant) uniform Parameters {
  int count;
  int tiles, firstTile;   // how many, and the first of them among those of all images
  int blocks, storedBlocks, rows, columns;   // of the output, of the sums; tiles of an image
  int height, width, channels;
  float inverseTiles, inverseArea, inverseColumns;
  float first, second;
};

layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
WIDE_VECTORS(1, sums)
VECTORS(2, bias)
VECTORS(3, residual)

void main() {
  EARLY(int, tiles)
  EARLY(int, firstTile)
  EARLY(int, blocks)
  EARLY(int, storedBlocks)
  EARLY(int, rows)
  EARLY(int, columns)
  EARLY(int, height)
  EARLY(int, width)
  EARLY(int, channels)
  EARLY(float, inverseTiles)
  EARLY(float, inverseArea)
  EARLY(float, inverseColumns)
  EARLY(float, first)
  EARLY(float, second)
  int index = flatPosition();
  if (index >= count) return;
  int block = quotient(index, tiles, inverseTiles);
  int own = index - block * tiles;
  int image = quotient(firstTile + own, rows * columns, inverseArea);
  int place = firstTile + own - image * rows * columns;
  int row = quotient(place, columns, inverseColumns);
  int top = row * TILE, left = (place - row * columns) * TILE;
  [[unroll]] for (int j = 0; j < SIDE; j++) {
    [[unroll]] for (int i = 0; i < SIDE; i++) {
      tile[i * SIDE + j] = sums(((i * SIDE + j) * storedBlocks + block) * tiles + own);
    }
    transformOutputs(j, SIDE);
  }
  [[unroll]] for (int i = 0; i < TILE; i++) transformOutputs(i * SIDE, 1);
  vec4 largest = vec4(0);
  [[unroll]] for (int i = 0; i < TILE; i++) {
    [[unroll]] for (int j = 0; j < TILE; j++) largest = larger(largest, abs(tile[i * SIDE + j]));
  }
  bvec4 isBelow = lessThan(floatBitsToUint(largest), uvec4(0x4F800000u));
  bvec4 exists = lessThan(block * 4 + ivec4(0, 1, 2, 3), ivec4(channels));
  vec4 start = bias(block);
  [[unroll]] for (int i = 0; i < TILE; i++) {
    [[unroll]] for (int j = 0; j < TILE; j++) {
      if (top + i < height && left + j < width) {
        int target = ((image * blocks + block) * height + top + i) * width + left + j;
        vec4 result = tile[i * SIDE + j] + start;
        if (RESIDUAL) result += residual(target);
        result = mix(vec4(notANumber()), ACTIVATED(result), isBelow);
        y[target] = STORED_VECTOR(mix(vec4(0), result, exists));
      }
    }
  }
}
