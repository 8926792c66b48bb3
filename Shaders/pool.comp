#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The largest element or the mean of each window of a blocked tensor. Each invocation computes ROWS by COLUMNS neighbouring
// positions of four channels; where the compiler unrolls the loops over the taps, it fetches each input once.
#include "common.glsl"
#include "lanes.glsl"
#include "special.glsl"

// 0 maximum, 1 average of the elements inside the input, 2 average counting the padding
layout(constant_id = 2) const int FUNCTION = 0;
layout(constant_id = 3) const int KERNEL_Y = 2;
layout(constant_id = 4) const int KERNEL_X = 2;
layout(constant_id = 5) const int STRIDE_Y = 2;
layout(constant_id = 6) const int STRIDE_X = 2;
layout(constant_id = 7) const int DILATION_Y = 1;
layout(constant_id = 8) const int DILATION_X = 1;
layout(constant_id = 9) const int ROWS = 1;
layout(constant_id = 10) const int COLUMNS = 1;

layout(push_constant) uniform Parameters {
  int count;   // invocations
  int tiles, tilesX;   // of a plane
  int height, width, outputHeight, outputWidth;
  int beforeY, beforeX, afterY, afterX;
  float inverseTiles, inverseTilesX;
};

RESULTS(y)
VECTORS(1, x)

void main() {
  EARLY(int, height)
  EARLY(int, width)
  EARLY(int, outputHeight)
  EARLY(int, outputWidth)
  EARLY(int, afterY)
  EARLY(int, afterX)
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, tiles, inverseTiles);
  int tile = index - plane * tiles;
  int tileY = quotient(tile, tilesX, inverseTilesX);
  int oy = tileY * ROWS;
  int ox = (tile - tileY * tilesX) * COLUMNS;
  int top = oy * STRIDE_Y - beforeY;
  int left = ox * STRIDE_X - beforeX;
  int source = plane * height * width;

  vec4 result[ROWS * COLUMNS];
  uvec4 magnitude[ROWS * COLUMNS];   // the largest by their bits, of a maximum: not-a-number's are above all others
  int elements[ROWS * COLUMNS];
  [[unroll]] for (int i = 0; i < ROWS * COLUMNS; i++) {
    result[i] = vec4(FUNCTION == 0 ? -infinity() : 0.0);
    magnitude[i] = uvec4(0);
    elements[i] = 0;
  }
  for (int ky = 0; ky < KERNEL_Y; ky++) {
    for (int kx = 0; kx < KERNEL_X; kx++) {
      [[unroll]] for (int r = 0; r < ROWS; r++) {
        int iy = top + (r * STRIDE_Y + ky * DILATION_Y);
        [[unroll]] for (int c = 0; c < COLUMNS; c++) {
          int ix = left + (c * STRIDE_X + kx * DILATION_X);
          bool inside = iy >= 0 && iy < height && ix >= 0 && ix < width;
          vec4 v = x(source + (inside ? iy * width + ix : 0));
          int i = r * COLUMNS + c;
          if (FUNCTION == 0) {
            v = inside ? v : vec4(-infinity());
            result[i] = max(result[i], v);
            magnitude[i] = max(magnitude[i], floatBitsToUint(v) & 0x7FFFFFFFu);
          } else {
            result[i] += inside ? v : vec4(0);
            bool counts = FUNCTION == 1 ? inside : iy < height + afterY && ix < width + afterX;
            elements[i] += counts ? 1 : 0;
          }
        }
      }
    }
  }

  [[unroll]] for (int r = 0; r < ROWS; r++) {
    [[unroll]] for (int c = 0; c < COLUMNS; c++) {
      if (oy + r < outputHeight && ox + c < outputWidth) {
        int i = r * COLUMNS + c;
        vec4 value =
          FUNCTION == 0
          ? mix(result[i], vec4(notANumber()), isUnordered(uintBitsToFloat(magnitude[i])))
          : result[i] / float(max(elements[i], 1));
        STORE_RESULT(y, (plane * outputHeight + oy + r) * outputWidth + ox + c, value);
      }
    }
  }
}
