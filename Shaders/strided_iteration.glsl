// Iterates over up to six axes of a dense result, innermost first, with each operand's strides (0 along broadcast axes).
// Needs common.glsl, `size` and AXES, the number of axes.

#define FOR_EACH_AXIS(index, body) \
  { \
    int rest = index; \
    for (int axis = 0; axis < AXES; axis++) { \
      int outer = quotient(rest, size[axis], 1.0 / float(size[axis])); \
      int place = rest - outer * size[axis]; \
      body \
      rest = outer; \
    } \
  }
