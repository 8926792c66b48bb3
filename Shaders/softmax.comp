#version 450
#extension GL_GOOGLE_include_directive : require
// y = e^(x - max x) / sum e^(x - max x) along one axis of a dense tensor, one line an invocation.
#include "common.glsl"
#include "functions.glsl"

layout(push_constant) uniform Parameters { int lines, length, inner; float inverseInner; };
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)

void main() {
  int line = flatPosition();
  if (line >= lines) return;
  int outer = quotient(line, inner, inverseInner);
  int base = outer * length * inner + (line - outer * inner);
  float largest = x(base);
  for (int i = 1; i < length; i++) largest = larger(largest, x(base + i * inner));
  float total = 0.0;
  for (int i = 0; i < length; i++) total += exponential(x(base + i * inner) - largest);
  float share = 1.0 / total;
  for (int i = 0; i < length; i++) {
    y[base + i * inner] = STORED_FLOAT(exponential(x(base + i * inner) - largest) * share);
  }
}
