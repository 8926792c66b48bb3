#version 450
#extension GL_GOOGLE_include_directive : require
// From integers of 32 bits to the bytes or shorts of a segment's boundary, one word written an invocation.
#include "common.glsl"

layout(constant_id = 1) const int BITS = 8;

layout(push_constant) uniform Parameters { int count; };   // of words written
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  uint word = 0u;
  for (int part = 0; part < 32 / BITS; part++) {
    word = bitfieldInsert(word, x(index * (32 / BITS) + part).x, part * BITS, BITS);
  }
  y[index] = word;
}
