#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
// Rows times constant weights by cooperative matrices: float16 operands, sums in float32. Each subgroup computes ROWS by
// COLUMNS matrices of the result; those at the end are moved back to end with it, so that some are computed twice. Weights:
// [columns][depth], as the graph has them; the bias repeated for each row of a matrix. Depth is whole matrices, rows and
// columns are one tile at least.
#include "common.glsl"
#include "functions.glsl"

layout(constant_id = 1) const int M = 16;
layout(constant_id = 2) const int N = 16;
layout(constant_id = 3) const int K = 16;
layout(constant_id = 4) const int ROWS = 2;
layout(constant_id = 5) const int COLUMNS = 2;
layout(constant_id = 6) const bool BIAS = false;
layout(constant_id = 7) const bool RESIDUAL = false;
layout(constant_id = 8) const uint ACTIVATION = UNARY_NONE;

layout(push_constant) uniform Parameters {
  int rows, depth, columns;
  int columnTiles, tiles;
  float first, second;
};

layout(binding = 0) buffer Output { float16_t y[]; };
// Eight halves an element, so that they are loaded together.
layout(binding = 1) readonly buffer XOperand { uvec4 x[]; };
layout(binding = 2) readonly buffer WeightsOperand { uvec4 weights[]; };
layout(binding = 3) readonly buffer BiasOperand { float16_t bias[]; };
layout(binding = 4) readonly buffer ResidualOperand { float16_t residual[]; };

#define OF(type, height, width, use) coopmat<type, gl_ScopeSubgroup, height, width, use>

void compute(int top, int left) {
  OF(float, M, N, gl_MatrixUseAccumulator) sum[ROWS * COLUMNS];
  [[unroll]] for (int c = 0; c < COLUMNS; c++) {
    OF(float, M, N, gl_MatrixUseAccumulator) start = OF(float, M, N, gl_MatrixUseAccumulator)(0.0);
    if (BIAS) {
      OF(float16_t, M, N, gl_MatrixUseAccumulator) own;
      coopMatLoad(own, bias, left + c * N, columns, gl_CooperativeMatrixLayoutRowMajor);
      start = OF(float, M, N, gl_MatrixUseAccumulator)(own);
    }
    [[unroll]] for (int r = 0; r < ROWS; r++) sum[r * COLUMNS + c] = start;
  }
  for (int k = 0; k < depth; k += K) {
    OF(float16_t, M, K, gl_MatrixUseA) a[ROWS];
    [[unroll]] for (int r = 0; r < ROWS; r++) {
      coopMatLoad(a[r], x, ((top + r * M) * depth + k) / 8, depth / 8, gl_CooperativeMatrixLayoutRowMajor);
    }
    [[unroll]] for (int c = 0; c < COLUMNS; c++) {
      OF(float16_t, K, N, gl_MatrixUseB) b;
      coopMatLoad(b, weights, ((left + c * N) * depth + k) / 8, depth / 8, gl_CooperativeMatrixLayoutColumnMajor);
      [[unroll]] for (int r = 0; r < ROWS; r++) sum[r * COLUMNS + c] = coopMatMulAdd(a[r], b, sum[r * COLUMNS + c]);
    }
  }
  [[unroll]] for (int r = 0; r < ROWS; r++) {
    [[unroll]] for (int c = 0; c < COLUMNS; c++) {
      int target = (top + r * M) * columns + left + c * N;
      OF(float, M, N, gl_MatrixUseAccumulator) result = sum[r * COLUMNS + c];
      if (RESIDUAL) {
        OF(float16_t, M, N, gl_MatrixUseAccumulator) own;
        coopMatLoad(own, residual, target, columns, gl_CooperativeMatrixLayoutRowMajor);
        result += OF(float, M, N, gl_MatrixUseAccumulator)(own);
      }
      if (ACTIVATION != UNARY_NONE) {
        for (int i = 0; i < result.length(); i++) result[i] = apply(ACTIVATION, result[i], first, second);
      }
      coopMatStore(
        OF(float16_t, M, N, gl_MatrixUseAccumulator)(result), y, target, columns, gl_CooperativeMatrixLayoutRowMajor);
    }
  }
}

void main() {
  // How many subgroups a group has is the driver's choice; each tile is one subgroup's.
  int own = groupPosition() * int(gl_WorkGroupSize.x / gl_SubgroupSize) + int(gl_SubgroupID);
  if (own >= tiles) return;
  int row = own / columnTiles;
  compute(min(row * ROWS * M, rows - ROWS * M), min((own - row * columnTiles) * COLUMNS * N, columns - COLUMNS * N));
}
