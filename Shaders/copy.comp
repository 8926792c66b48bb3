#version 450
#extension GL_GOOGLE_include_directive : require
// Moves words of 32 bits, or float16 elements, between dense tensors by strides: transposition, slices, joins, repetition, padding.
// Sizes and strides are of the elements written, innermost axis first.
#include "common.glsl"

// 0: every element has a source. Else positions may lie outside the source, which 1 fills, 2 mirrors, 3 clamps.
layout(constant_id = 1) const int MODE = 0;

layout(push_constant) uniform Parameters {
  int count;
  int from, to;                         // offsets in elements
  int size[6], source[6], target[6];
  int before[4], extent[4];             // with MODE: padding before, and the source's sizes
  uint value, highValue;                // with MODE 1: the element, of which the second is for odd words
};
layout(binding = 0) writeonly buffer Output { STORED_WORD y[]; };
WORDS(1, x)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int rest = index, read = from, write = to;
  bool inside = true;
  for (int axis = 0; axis < (MODE == 0 ? 6 : 4); axis++) {
    int outer = quotient(rest, size[axis], 1.0 / float(size[axis]));
    int place = rest - outer * size[axis];
    write += place * target[axis];
    rest = outer;
    if (MODE != 0) {
      place -= before[axis];
      if (MODE == 1) {
        inside = inside && place >= 0 && place < extent[axis];
        place = clamp(place, 0, max(extent[axis] - 1, 0));
      }
      if (MODE == 2) {
        place = abs(place);
        place = place < extent[axis] ? place : 2 * (extent[axis] - 1) - place;
      }
      if (MODE == 3) place = clamp(place, 0, extent[axis] - 1);
    }
    read += place * source[axis];
  }
  uint v = x(read).x;
  y[write] = STORED_WORD(inside ? v : ((index & 1) == 0 ? value : highValue));
}
