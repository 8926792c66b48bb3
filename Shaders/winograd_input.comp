#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Tiles of a blocked tensor brought to Winograd's points, one tile of a block an invocation: [point][block][tile][4]. Of
// LARGE tiles an invocation computes half of the points, since all of them would not fit the registers of some GPUs.
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
#ifdef LARGE
  bool isFar = block >= blocks;
  if (isFar) block -= blocks;
#endif
  int image = quotient(firstTile + own, rows * columns, inverseArea);
  int place = firstTile + own - image * rows * columns;
  int row = quotient(place, columns, inverseColumns);
  int top = row * TILE - beforeY, left = (place - row * columns) * TILE - beforeX;
  int source = (image * blocks + block) * height * width;
  [[unroll]] for (int j = 0; j < SIDE; j++) {
    [[unroll]] for (int i = 0; i < SIDE; i++) {
      bool inside = top + i >= 0 && top + i < height && left + j >= 0 && left + j < width;
      vec4 v = x(source + (inside ? (top + i) * width + left + j : 0));
      tile[i * SIDE + j] = inside ? v : vec4(0);
    }
#ifdef LARGE
    transformHalf(j, SIDE, isFar);
#else
    transformInputs(j, SIDE);
#endif
  }
  [[unroll]] for (int i = 0; i < ROWS; i++) {
    transformInputs(i * SIDE, 1);
#ifdef LARGE
    int first = SIDE * (!isFar ? i : i > 0 ? i + 2 : SIDE - 1);
#else
    int first = SIDE * i;
#endif
    [[unroll]] for (int j = 0; j < SIDE; j++) y[((first + j) * blocks + block) * tiles + own] = tile[i * SIDE + j];
  }
}
