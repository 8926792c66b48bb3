#version 450
#extension GL_GOOGLE_include_directive : require
// Slices of a dense tensor along one axis, by index; indices count from the end where negative and are clamped.
#include "common.glsl"

layout(push_constant) uniform Parameters {
  int count, extent, indices, inner;   // the axis gathered from, how many indices, elements after the axis
  float inverseIndices, inverseInner;
};
layout(binding = 0) writeonly buffer Output { float y[]; };
layout(binding = 1) uniform samplerBuffer x;
layout(binding = 2) uniform isamplerBuffer positions;

layout(constant_id = 1) const bool WIDE = false;   // 64-bit indices, as low and high word

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int outer = quotient(index, inner, inverseInner);
  int place = index - outer * inner;
  int row = quotient(outer, indices, inverseIndices);
  ivec4 word = texelFetch(positions, outer - row * indices);
  int position = word.x;
  if (WIDE) {
    bool fits = word.y == (word.x >> 31);
    position = fits ? word.x : (word.y < 0 ? -0x7FFFFFFF : 0x7FFFFFFF);
  }
  position = clamp(position < 0 ? position + extent : position, 0, extent - 1);
  y[index] = texelFetch(x, (row * extent + position) * inner + place).x;
}
