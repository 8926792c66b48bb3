#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Adds the sums of staged_integers.comp, [share][result], and finishes them as that does. One result an invocation.
#include "common.glsl"
#include "integers.glsl"
#include "requantize.glsl"

layout(constant_id = 1) const bool REQUANTIZES = false;

layout(push_constant) uniform Parameters {
  int count, shares;
  int area;      // 1 if a position's columns lie side by side
  int columns;   // of all groups
  float inverseArea, inverseColumns;
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, sums)
WORDS(2, table)   // as in integer_product.comp

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int result = 0;
  // Several are read at a time, since each may take long to come.
  for (int share = 0; share < shares; share += 4) {
    int four[4];
    [[unroll]] for (int i = 0; i < 4; i++) four[i] = int(sums(min(share + i, shares - 1) * count + index).x);
    [[unroll]] for (int i = 0; i < 4; i++) {
      if (share + i < shares) result += four[i];
    }
  }
  if (REQUANTIZES) {
    int plane = quotient(index, area, inverseArea);
    int column = plane - quotient(plane, columns, inverseColumns) * columns, tail = 3 * columns;
    result = requantized(
      result, int(table(3 * column + 1).x), uintBitsToFloat(table(3 * column + 2).x), int(table(tail).x),
      int(table(tail + 1).x), int(table(tail + 2).x));
  }
  y[index] = uint(result);
}
