#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A depthwise convolution on blocked tensors. Each invocation computes ROWS by COLUMNS neighbouring positions of four
// channels; where the loops unroll, the compiler fetches each input once, as strides and dilations are constants. Weights:
// [block][tap][4 channels].
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 2) const int KERNEL_Y = 3;
layout(constant_id = 3) const int KERNEL_X = 3;
layout(constant_id = 4) const int STRIDE_Y = 1;
layout(constant_id = 5) const int STRIDE_X = 1;
layout(constant_id = 6) const int DILATION_Y = 1;
layout(constant_id = 7) const int DILATION_X = 1;
layout(constant_id = 8) const int ROWS = 2;
layout(constant_id = 9) const int COLUMNS = 4;
layout(constant_id = 10) const bool RESIDUAL = false;
layout(constant_id = 11) const uint ACTIVATION = UNARY_NONE;

layout(push_constant) uniform Parameters {
  int blocks, planes;
  int height, width, outputHeight, outputWidth;
  int beforeY, beforeX;
  int tilesX, tiles;
  int channels;
  float inverseTilesX;
  float first, second;
};

RESULTS(y)
VECTORS(1, x)
HALF_VECTORS(2, weights)
VECTORS(3, bias)
VECTORS(4, residual)

void main() {
  EARLY(int, outputHeight)
  EARLY(int, outputWidth)
  EARLY(int, channels)
  EARLY(float, first)
  EARLY(float, second)
  int plane = int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y);
  if (plane >= planes) plane = planes - 1;
  int block = plane % blocks;
  int tile = min(int(gl_GlobalInvocationID.x), tiles - 1);
  int tileY = quotient(tile, tilesX, inverseTilesX);
  int oy = tileY * ROWS;
  int ox = (tile - tileY * tilesX) * COLUMNS;
  int top = oy * STRIDE_Y - beforeY;
  int left = ox * STRIDE_X - beforeX;

  const int TAPS = KERNEL_Y * KERNEL_X;
  int weight = block * TAPS;
  SHARED_VECTORS(w, TAPS);
  LOAD_SHARED(w, TAPS, weights, weight);

  vec4 sum[ROWS * COLUMNS];
  vec4 start = bias(block);
  [[unroll]] for (int i = 0; i < ROWS * COLUMNS; i++) sum[i] = start;
  [[unroll]] for (int ky = 0; ky < KERNEL_Y; ky++) {
    [[unroll]] for (int kx = 0; kx < KERNEL_X; kx++) {
      vec4 tap = SHARED_VECTOR(w, weights, weight, ky * KERNEL_X + kx);
      [[unroll]] for (int r = 0; r < ROWS; r++) {
        int iy = top + (r * STRIDE_Y + ky * DILATION_Y);
        [[unroll]] for (int c = 0; c < COLUMNS; c++) {
          int ix = left + (c * STRIDE_X + kx * DILATION_X);
          bool inside = iy >= 0 && iy < height && ix >= 0 && ix < width;
          vec4 v = x(plane * height * width + (inside ? iy * width + ix : 0));
          sum[r * COLUMNS + c] = fma(inside ? v : vec4(0), tap, sum[r * COLUMNS + c]);
        }
      }
    }
  }

#ifdef LOOPED
  PENDING(ROWS * COLUMNS)
#endif
  bvec4 exists = lessThan(block * 4 + ivec4(0, 1, 2, 3), ivec4(channels));
  [[unroll]] for (int r = 0; r < ROWS; r++) {
    [[unroll]] for (int c = 0; c < COLUMNS; c++) {
      if (oy + r < outputHeight && ox + c < outputWidth) {
        int target = (plane * outputHeight + oy + r) * outputWidth + ox + c;
        vec4 result = sum[r * COLUMNS + c];
        if (RESIDUAL) result += residual(target);
#ifdef LOOPED
        pending[r * COLUMNS + c] = result;
        pendingAt[r * COLUMNS + c] = target;
#else
        STORE_RESULT(y, target, mix(vec4(0), ACTIVATED(result), exists));
#endif
      }
    }
  }
#ifdef LOOPED
  [[dont_unroll]] for (int k = 0; k < ROWS * COLUMNS; k++) {
    vec4 result = ACTIVATED(pending[k]);
    if (pendingAt[k] >= 0) STORE_RESULT(y, pendingAt[k], mix(vec4(0), result, exists));
  }
#endif
}
