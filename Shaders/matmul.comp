#version 450
#extension GL_GOOGLE_include_directive : require
// Products of two tensors' matrices: each invocation computes one column of ROWS rows. Strides are in elements.
#include "common.glsl"

layout(constant_id = 1) const int ROWS = 4;

layout(push_constant) uniform Parameters {
  int rows, depth, columns;
  int rowStride, rowDepthStride, columnDepthStride, columnStride;
  int batch[4];          // sizes of the batch axes, outermost first
  int leftBatch[4], rightBatch[4];
};

layout(binding = 0) writeonly buffer Output { float z[]; };
FLOATS(1, x)
FLOATS(2, y)

void main() {
  int column = min(int(gl_GlobalInvocationID.x), columns - 1);
  int rest = int(gl_WorkGroupID.z);
  int left = 0, right = 0;
  for (int axis = 3; axis >= 0; axis--) {
    int place = rest % batch[axis];
    rest /= batch[axis];
    left += place * leftBatch[axis];
    right += place * rightBatch[axis];
  }
  int row[ROWS];
  float sum[ROWS];
  for (int r = 0; r < ROWS; r++) {
    row[r] = min(int(gl_WorkGroupID.y) * ROWS + r, rows - 1);
    sum[r] = 0.0;
  }
  right += column * columnStride;
  for (int k = 0; k < depth; k++) {
    float w = y(right + k * columnDepthStride);
    for (int r = 0; r < ROWS; r++) {
      sum[r] = fma(x(left + row[r] * rowStride + k * rowDepthStride), w, sum[r]);
    }
  }
  for (int r = 0; r < ROWS; r++) z[(int(gl_WorkGroupID.z) * rows + row[r]) * columns + column] = sum[r];
}
