#version 450
#extension GL_GOOGLE_include_directive : require
// Slices of a dense tensor of 32-bit words along one axis, by index; indices count from the end where negative and are
// clamped.
#include "common.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int KIND = 0;   // of the indices

layout(push_constant) uniform Parameters {
  int count, extent, indices, inner;   // the axis gathered from, how many indices, words after the axis
  float inverseIndices, inverseInner;
};
layout(binding = 0) writeonly buffer Output { STORED_WORD y[]; };
WORDS(1, x)
WORDS(2, positions)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int outer = quotient(index, inner, inverseInner);
  int place = index - outer * inner;
  int row = quotient(outer, indices, inverseIndices);
  int position = clampedPositionAt(positions(outer - row * indices), KIND, extent);
  y[index] = STORED_WORD(x((row * extent + position) * inner + place).x);
}
