#version 450
#extension GL_GOOGLE_include_directive : require
// y[i, j, k] = x[i, indices[i, j, k], k]: dense tensors of one or two words an element; indices count from the end where
// negative and are clamped.
#include "common.glsl"
#include "integers.glsl"
#include "strided_iteration.glsl"

layout(constant_id = 1) const int AXES = 1;
layout(constant_id = 2) const int KIND = 0;   // of the indices
layout(constant_id = 3) const bool PAIRS = false;

layout(push_constant) uniform Parameters {
  int count, extent, step_;            // the axis's size and stride in x
  int size[6], stride[6];              // of the indices; strides are x's, 0 along the axis
};
layout(binding = 0) writeonly buffer Output { STORED_WORD y[]; };
WORDS(1, x)
WORDS(2, positions)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int at = 0;
  FOR_EACH_AXIS(index, at += place * stride[axis];)
  uvec4 v = x(at + clampedPositionAt(positions(index), KIND, extent) * step_);
  if (PAIRS) {
    y[2 * index] = STORED_WORD(v.x);
    y[2 * index + 1] = STORED_WORD(v.y);
  } else {
    y[index] = STORED_WORD(v.x);
  }
}
