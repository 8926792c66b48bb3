#version 450
#extension GL_GOOGLE_include_directive : require
// The positions of the best elements of each run of a line, best first, along the middle axis of [outer, length, inner].
// An invocation counts how many elements of the run come before one.
#include "common.glsl"
#include "integers.glsl"
#include "rank.glsl"

layout(push_constant) uniform Parameters {
  int count, length, inner;
  int span, kept;                                        // elements of a run, and how many are written at most
  int outerStride, innerStride, runStride, rankStride;   // in y
  float inverseInner, inverseLength, inverseSpan;
};

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int line = quotient(index, inner, inverseInner);
  int outer = quotient(line, length, inverseLength);
  int position = line - outer * length, place = index - line * inner;
  int run = quotient(position, span, inverseSpan);
  int base = outer * length * inner + place, end = min((run + 1) * span, length);
  uvec2 own = key(index);
  int rank = 0;
  for (int other = run * span; other < end; other++) {
    rank += beats(key(base + other * inner), own, other < position) ? 1 : 0;
  }
  if (rank < kept) store(outer * outerStride + place * innerStride + run * runStride + rank * rankStride, position);
}
