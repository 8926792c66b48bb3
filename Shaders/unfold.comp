#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The windows of a convolution as channels of a pointwise one: from the dense layout [N, C, height, width] to the blocked
// one [N, ceil(C * taps / 4), area, 4], whose last block is filled with zeros. Four neighbours of [C, taps] an invocation.
#include "common.glsl"
#include "lanes.glsl"

layout(push_constant) uniform Parameters {
  int area, areaWidth;   // of the result
  int blocks, planes;    // of an image, of all of them
  int channels, taps, height, width;
  int kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseWidth, inverseBlocks, inverseTaps, inverseKernelX;
};

RESULTS(y)
FLOATS(1, x)

void main() {
  EARLY(int, area)
  EARLY(int, channels)
  EARLY(int, taps)
  EARLY(int, height)
  EARLY(int, width)
  EARLY(int, kernelX)
  EARLY(int, dilationY)
  EARLY(int, dilationX)
  int plane = min(int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y), planes - 1);
  int place = min(int(gl_GlobalInvocationID.x), area - 1);
  int batch = quotient(plane, blocks, inverseBlocks);
  int first = (plane - batch * blocks) * 4;
  int channel = quotient(first, taps, inverseTaps), tap = first - channel * taps;
  int ky = quotient(tap, kernelX, inverseKernelX), kx = tap - ky * kernelX;
  int row = quotient(place, areaWidth, inverseWidth);
  int top = row * strideY - beforeY, left = (place - row * areaWidth) * strideX - beforeX;
  int image = batch * channels;
  vec4 v;
  [[unroll]] for (int c = 0; c < 4; c++) {
    int iy = top + ky * dilationY, ix = left + kx * dilationX;
    bool inside = channel < channels && iy >= 0 && iy < height && ix >= 0 && ix < width;
    float e = x(inside ? ((image + channel) * height + iy) * width + ix : 0);
    v[c] = inside ? e : 0.0;
    bool endsRow = ++kx == kernelX, endsWindow = ++tap == taps;
    ky = endsWindow ? 0 : endsRow ? ky + 1 : ky;
    kx = endsRow ? 0 : kx;
    tap = endsWindow ? 0 : tap;
    channel += endsWindow ? 1 : 0;
  }
  STORE_RESULT(y, plane * area + place, v);
}
