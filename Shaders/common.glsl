// Shared by every shader: the workgroup's size, addresses of its invocations, division by values known to the host.
#include "operands.glsl"

layout(local_size_x_id = 0) in;

// A position along a grid's long side: x, continued in z where a side is longer than a device allows.
int groupPosition() { return int(gl_WorkGroupID.x + gl_WorkGroupID.z * gl_NumWorkGroups.x); }
int flatPosition() { return groupPosition() * int(gl_WorkGroupSize.x) + int(gl_LocalInvocationID.x); }

// floor(a / d) for 0 <= a < 2^31, 0 < d, given 1.0 / d: integer division is slow wherever a lane is a SIMD lane.
int quotient(int a, int d, float reciprocal) {
  int q = int(float(a) * reciprocal);
  int rest = a - q * d;
  int step = int(floor(float(rest) * reciprocal));
  q += step;
  rest -= step * d;
  return q + (rest >= d ? 1 : 0) - (rest < 0 ? 1 : 0);
}

// A kernel over rows of elements: one invocation computes one element. The kernel's parameters, an instance `s`, begin
// with ROW_PARAMETERS. EACH_ROW sets `row`, EACH_COLUMN sets `column`, and ELEMENT_INDEX is the element's index. The same
// names are in opencl/prelude.cl.
#define ROW_PARAMETERS int rowCount; int rowLength; float inverseRowLength;
#define EACH_ROW \
  const int element_ = flatPosition(), row = quotient(element_, s.rowLength, s.inverseRowLength); \
  if (row < s.rowCount)
#define EACH_COLUMN const int column = element_ - row * s.rowLength;
#define ELEMENT_INDEX element_
