#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Rows times packed weights on software drivers, whose subgroups are registers: each invocation computes one column of ROWS
// rows. Weights: [K / 4][columns][4 of K].
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 2) const int ROWS = 1;
layout(constant_id = 3) const bool RESIDUAL = false;
layout(constant_id = 4) const uint ACTIVATION = UNARY_NONE;

// The first of those of shared/linear.kernel.
layout(push_constant) uniform Parameters {
  int rows, depth, outputs, groupColumns;
  int inputStride, outputStride;   // elements from row to row; columns up to the stride are set to zero
  float first, second;
};

layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, x)
VECTORS(2, weights)
FLOATS(3, bias)
FLOATS(4, residual)

void main() {
  EARLY(int, rows)
  EARLY(int, depth)
  EARLY(int, outputs)
  EARLY(int, inputStride)
  EARLY(int, outputStride)
  EARLY(float, first)
  EARLY(float, second)
  int column = int(gl_GlobalInvocationID.x);
  int source = min(column, outputs - 1);
  int row[ROWS];
  float sum[ROWS];
  [[unroll]] for (int r = 0; r < ROWS; r++) {
    row[r] = min(int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y) * ROWS + r, rows - 1);
    sum[r] = 0.0;
  }
  for (int k = 0; k < depth; k += LANES) {
    int lane = k + int(gl_SubgroupInvocationID);
    float v[ROWS];
    [[unroll]] for (int r = 0; r < ROWS; r++) {
      v[r] = x(row[r] * inputStride + min(lane, depth - 1));
      v[r] = lane < depth ? v[r] : 0.0;
    }
    [[unroll]] for (int q = 0; q < LANES / 4; q++) {
      vec4 w = weights((k / 4 + q) * outputs + source);
      w = k + q * 4 < depth ? w : vec4(0);
      [[unroll]] for (int c = 0; c < 4; c++) {
        [[unroll]] for (int r = 0; r < ROWS; r++) sum[r] = fma(subgroupShuffle(v[r], uint(q * 4 + c)), w[c], sum[r]);
      }
    }
  }
  float start = bias(source);
  [[unroll]] for (int r = 0; r < ROWS; r++) {
    int target = row[r] * outputStride + column;
    float result = sum[r] + start;
    if (RESIDUAL) result += residual(min(target, rows * outputStride - 1));
    result = apply(ACTIVATION, result, first, second);
    if (column < outputStride) y[target] = STORED_FLOAT(column < outputs ? result : 0.0);
  }
}
