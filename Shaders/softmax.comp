#version 450
#extension GL_GOOGLE_include_directive : require
// y = e^(x - max x) / sum e^(x - max x) along the middle axis of [outer, length, inner], or of one in blocks of 1 << laneBits
// elements, [outer, block, inner, lane]: one line an invocation.
#include "common.glsl"
#include "functions.glsl"

layout(push_constant) uniform Parameters { int lines, length, inner, laneBits; float inverseInner; };
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)

// Of an element of the line whose first is at `first` << laneBits.
#define PLACE(i) (((first + ((i) >> laneBits) * inner) << laneBits) + ((i) & ((1 << laneBits) - 1)))

void main() {
  EARLY(int, length)
  EARLY(int, inner)
  EARLY(int, laneBits)
  int line = flatPosition();
  if (line >= lines) return;
  int outer = quotient(line, inner, inverseInner);
  int blocks = ((length - 1) >> laneBits) + 1;
  int first = outer * blocks * inner + (line - outer * inner);
  float largest = x(first << laneBits);
  for (int i = 1; i < length; i++) largest = larger(largest, x(PLACE(i)));
  float total = 0.0;
  for (int i = 0; i < length; i++) total += exponential(x(PLACE(i)) - largest);
  float share = 1.0 / total;
  for (int i = 0; i < length; i++) y[PLACE(i)] = STORED_FLOAT(exponential(x(PLACE(i)) - largest) * share);
  for (int i = length; i < blocks << laneBits; i++) y[PLACE(i)] = STORED_FLOAT(0.0);
}
