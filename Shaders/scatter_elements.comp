#version 450
#extension GL_GOOGLE_include_directive : require
// y[i, indices[i, j, k], k] combined with updates[i, j, k], for each j in turn: one line an invocation, since no two
// lines share an element. Indices count from the end where negative; those outside write
// nothing.
#include "common.glsl"
#include "Generated/numbers.glsl"
#include "integers.glsl"
#include "scatter.glsl"
#include "strided_iteration.glsl"

layout(constant_id = 5) const int AXES = 1;

layout(push_constant) uniform Parameters {
  int lines, length, step_, extent, targetStep;   // of a line in the indices; of the axis in y
  int size[6], source[6], target[6];              // of the other axes; strides of the indices and of y
};

void main() {
  int line = flatPosition();
  if (line >= lines) return;
  int from = 0, to = 0;
  FOR_EACH_AXIS(line, from += place * source[axis]; to += place * target[axis];)
  for (int i = 0; i < length; i++) {
    int at = from + i * step_;
    int position = positionAt(positions(at), INDEX_KIND, extent);
    if (uint(position) < uint(extent)) scatter(to + position * targetStep, updates(at));
  }
}
