#version 450
#extension GL_GOOGLE_include_directive : require
// Rows of a dense tensor brought to mean 0 and variance 1, then scaled and shifted element by element: one row a group.
#include "common.glsl"
#include "special.glsl"

layout(constant_id = 1) const bool SCALES = false;
layout(constant_id = 2) const bool SHIFTS = false;

layout(push_constant) uniform Parameters { int rows, length; float epsilon; };
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)
FLOATS(2, scale)
FLOATS(3, shift)

shared float parts[gl_WorkGroupSize.x];

// The sum over the group, each invocation's share in a fixed order.
float total(float part) {
  int self = int(gl_LocalInvocationID.x);
  barrier();
  parts[self] = part;
  barrier();
  for (int width = int(gl_WorkGroupSize.x) / 2; width > 0; width /= 2) {
    if (self < width) parts[self] += parts[self + width];
    barrier();
  }
  return parts[0];
}

void main() {
  int row = min(groupPosition(), rows - 1);
  int base = row * length;
  int self = int(gl_LocalInvocationID.x), step = int(gl_WorkGroupSize.x);
  float part = 0.0;
  for (int i = self; i < length; i += step) part += x(base + i);
  float mean = total(part) / float(length);
  part = 0.0;
  for (int i = self; i < length; i += step) {
    float v = x(base + i) - mean;
    part = fma(v, v, part);
  }
  float variance = total(part) / float(length);
  // Where the squares left the range, 1 / infinity would make every element 0.
  float factor = isFinite(variance) ? 1.0 / sqrt(variance + epsilon) : notANumber();
  for (int i = self; i < length; i += step) {
    float v = (x(base + i) - mean) * factor;
    if (SCALES) v *= scale(i);
    if (SHIFTS) v += shift(i);
    y[base + i] = STORED_FLOAT(v);
  }
}
