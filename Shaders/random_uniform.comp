#version 450
#extension GL_GOOGLE_include_directive : require
// Numbers over [0, 1) from a key, one block of Philox 4x32-10 an invocation.
#include "common.glsl"

layout(push_constant) uniform Parameters { int count, stream; };
layout(binding = 0) writeonly buffer Output { float y[]; };
WORDS(1, key)

uvec4 philox(uvec4 c, uvec2 k) {
  for (int i = 0; i < 10; i++) {
    uint high, low, otherHigh, otherLow;
    umulExtended(c.x, 0xD2511F53u, high, low);
    umulExtended(c.z, 0xCD9E8D57u, otherHigh, otherLow);
    c = uvec4(otherHigh ^ c.y ^ k.x, otherLow, high ^ c.w ^ k.y, low);
    k += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

void main() {
  int block = flatPosition();
  int first = 4 * block;
  if (first >= count) return;
  uvec4 words = philox(uvec4(uint(block), uint(stream), key(2).x, key(3).x), uvec2(key(0).x, key(1).x));
  for (int i = 0; i < 4; i++) {
    if (first + i < count) y[first + i] = float(words[i] >> 8) * (1.0 / 16777216.0);
  }
}
