#version 450
#extension GL_GOOGLE_include_directive : require
// Combines the elements of a dense tensor along up to three (merged) axes, one result an invocation.
#include "common.glsl"
#include "functions.glsl"

layout(constant_id = 1) const uint FUNCTION = REDUCE_SUM;

layout(push_constant) uniform Parameters {
  int count, length;
  int kept[4], keptStride[4];          // innermost first
  int reduced[4], reducedStride[4];
};
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)

// The offset of the element at an index of up to four (merged) axes, innermost axis first.
int address(int index, int size[4], int stride[4]) {
  int rest = index, at = 0;
  for (int axis = 0; axis < 4; axis++) {
    int outer = quotient(rest, size[axis], 1.0 / float(size[axis]));
    at += (rest - outer * size[axis]) * stride[axis];
    rest = outer;
  }
  return at;
}

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int base = address(index, kept, keptStride);
  float largest = -infinity();
  if (FUNCTION == REDUCE_LOG_SUM_EXP) {
    for (int i = 0; i < length; i++) {
      largest = larger(largest, x(base + address(i, reduced, reducedStride)));
    }
    if (!isFinite(largest)) largest = 0.0;
  }
  float result = FUNCTION == REDUCE_MAXIMUM ? -infinity()
    : (FUNCTION == REDUCE_MINIMUM ? infinity() : (FUNCTION == REDUCE_PRODUCT ? 1.0 : 0.0));
  float lost = 0.0;
  for (int i = 0; i < length; i++) {
    float v = x(base + address(i, reduced, reducedStride));
    if (FUNCTION == REDUCE_MAXIMUM) result = larger(result, v);
    else if (FUNCTION == REDUCE_MINIMUM) result = smaller(result, v);
    else if (FUNCTION == REDUCE_PRODUCT) result *= v;
    else {
      if (FUNCTION == REDUCE_L1) v = abs(v);
      if (FUNCTION == REDUCE_L2 || FUNCTION == REDUCE_SUM_OF_SQUARES) v = v * v;
      if (FUNCTION == REDUCE_LOG_SUM_EXP) v = exponential(v - largest);
      result = compensatedSum(result, v, lost);
    }
  }
  if (FUNCTION == REDUCE_MEAN) result /= float(length);
  if (FUNCTION == REDUCE_L2) result = sqrt(result);
  if (FUNCTION == REDUCE_LOG_SUM) result = logarithm(result);
  if (FUNCTION == REDUCE_LOG_SUM_EXP) result = largest + logarithm(result);
  y[index] = STORED_FLOAT(result);
}
