#version 450
#extension GL_GOOGLE_include_directive : require
// Slices of a dense tensor, each given by a tuple of indices into its first axes, combined with updates in the order of
// the tuples: one element of every slice an invocation. Indices count from the end where negative; tuples with
// one outside write nothing.
#include "common.glsl"
#include "Generated/numbers.glsl"
#include "integers.glsl"
#include "scatter.glsl"

layout(constant_id = 5) const int DEPTH = 1;   // indices in a tuple

layout(push_constant) uniform Parameters {
  int inner, tuples;   // elements in a slice
  int extent[8], stride[8];
};

void main() {
  int place = flatPosition();
  if (place >= inner) return;
  for (int tuple = 0; tuple < tuples; tuple++) {
    int at = place;
    bool isInside = true;
    for (int axis = 0; axis < DEPTH; axis++) {
      int position = positionAt(positions(tuple * DEPTH + axis), INDEX_KIND, extent[axis]);
      isInside = isInside && uint(position) < uint(extent[axis]);
      at += position * stride[axis];
    }
    if (isInside) scatter(at, updates(tuple * inner + place));
  }
}
