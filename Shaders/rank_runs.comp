#version 450
#extension GL_GOOGLE_include_directive : require
// The positions of the best elements of each ARITY runs of a line, of which each is sorted. An invocation looks up in
// the others how many of their elements come before one.
#include "common.glsl"
#include "integers.glsl"
#include "rank.glsl"

layout(constant_id = 4) const int ARITY = 8;

layout(push_constant) uniform Parameters {
  int count, length, inner;
  int span, stored, runs;                                // of the runs read: `stored` places for each
  int kept;
  int outerStride, innerStride, runStride, rankStride;   // in y
  float inverseStored, inverseRuns, inverseInner;
};
WORDS(2, positions)

int sizeOf(int run) { return min(min(span, length - run * span), stored); }

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int row = quotient(index, stored, inverseStored);
  int rank = index - row * stored;
  int line = quotient(row, runs, inverseRuns);
  int run = row - line * runs;
  if (rank >= sizeOf(run)) return;
  int outer = quotient(line, inner, inverseInner), place = line - outer * inner;
  int base = outer * length * inner + place;
  int position = int(positions(index).x);
  uvec2 own = key(base + position * inner);
  int group = run / ARITY;
  for (int other = group * ARITY; other < min((group + 1) * ARITY, runs); other++) {
    if (other == run) continue;
    int low = 0, high = sizeOf(other), start = (line * runs + other) * stored;
    while (low < high) {
      int middle = (low + high) / 2;
      bool before = beats(key(base + int(positions(start + middle).x) * inner), own, other < run);
      low = before ? middle + 1 : low;
      high = before ? high : middle;
    }
    rank += low;
  }
  if (rank < kept) store(outer * outerStride + place * innerStride + group * runStride + rank * rankStride, position);
}
