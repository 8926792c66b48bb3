#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Tiles of a blocked tensor brought to Winograd's points, one tile of a block an invocation: [point][block][tile][4].
#include "common.glsl"
#include "winograd.glsl"

layout(push_constant) uniform Parameters {
  int count;
  int tiles, firstTile;   // how many, and the first of them among those of all images
  int blocks, rows, columns;   // tiles of an image
  int height, width, beforeY, beforeX;
  float inverseTiles, inverseArea, inverseColumns;
};

layout(binding = 0) writeonly buffer Output { vec4 y[]; };
VECTORS(1, x)

void main() {
  EARLY(int, tiles)
  EARLY(int, firstTile)
  EARLY(int, blocks)
  EARLY(int, rows)
  EARLY(int, columns)
  EARLY(int, height)
  EARLY(int, width)
  EARLY(int, beforeY)
  EARLY(int, beforeX)
  EARLY(float, inverseTiles)
  EARLY(float, inverseArea)
  EARLY(float, inverseColumns)
  int index = flatPosition();
  if (index >= count) return;
  int block = quotient(index, tiles, inverseTiles);
  int own = index - block * tiles;
  int image = quotient(firstTile + own, rows * columns, inverseArea);
  int place = firstTile + own - image * rows * columns;
  int row = quotient(place, columns, inverseColumns);
  int top = row * TILE - beforeY, left = (place - row * columns) * TILE - beforeX;
  int source = (image * blocks + block) * height * width;
  [[unroll]] for (int i = 0; i < SIDE; i++) {
    [[unroll]] for (int j = 0; j < SIDE; j++) {
      bool inside = top + i >= 0 && top + i < height && left + j >= 0 && left + j < width;
      vec4 v = x(source + (inside ? (top + i) * width + left + j : 0));
      tile[i * SIDE + j] = inside ? v : vec4(0);
    }
  }
  [[unroll]] for (int j = 0; j < SIDE; j++) transformInputs(j, SIDE);
  [[unroll]] for (int i = 0; i < SIDE; i++) transformInputs(i * SIDE, 1);
  [[unroll]] for (int point = 0; point < POINTS; point++) y[(point * blocks + block) * tiles + own] = tile[point];
}
