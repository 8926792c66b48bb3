#version 450
#extension GL_GOOGLE_include_directive : require
// Slices of a dense tensor of 32-bit words, each given by a row of indices into its first axes after the batch ones;
// indices count from the end where negative and are clamped.
#include "common.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int DEPTH = 1;   // indices in a row
layout(constant_id = 2) const int KIND = 0;    // of the indices

layout(push_constant) uniform Parameters {
  int count, inner, rows, batchStride;   // words in a slice, slices in a batch, words in a batch
  int extent[8], stride[8];
  float inverseInner, inverseRows;
};
layout(binding = 0) writeonly buffer Output { STORED_WORD y[]; };
WORDS(1, x)
WORDS(2, positions)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int row = quotient(index, inner, inverseInner);
  int at = quotient(row, rows, inverseRows) * batchStride + (index - row * inner);
  for (int axis = 0; axis < DEPTH; axis++) {
    at += clampedPositionAt(positions(row * DEPTH + axis), KIND, extent[axis]) * stride[axis];
  }
  y[index] = STORED_WORD(x(at).x);
}
