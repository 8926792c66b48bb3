#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Products of two tensors' matrices, each transposed or not: what lies side by side is read as vectors of four. With
// permutations a group is one SIMD register and computes ROWS rows of four columns a lane; else its 64 invocations share
// slabs of both operands in local memory, and each computes 8 rows of 4 columns.
#include "common.glsl"
#include "lanes.glsl"

layout(constant_id = 2) const int ROWS = 64;   // of a group
layout(constant_id = 3) const bool X_TRANSPOSED = false;
layout(constant_id = 4) const bool Y_TRANSPOSED = false;
// Whether lines are whole vectors; else they are read element by element.
layout(constant_id = 5) const bool X_ALIGNED = false;
layout(constant_id = 6) const bool Y_ALIGNED = false;

layout(push_constant) uniform Parameters {
  int rows, depth, columns;
  int rowTiles, columnTiles, tiles;   // of a matrix, down and across; of all matrices
  int batch[4];                       // sizes of the batch axes, outermost first
  int xBatch[4], yBatch[4];
};

layout(binding = 0) writeonly buffer Output { STORED_FLOAT z[]; };
FLOATS(1, x)
VECTORS(1, xVectors)
FLOATS(2, y)
VECTORS(2, yVectors)

// Four neighbours of a line from `at` on. Beyond its end come others that exist; beyond the depth, zeros, which are zero
// in both operands, since either may hold infinities.
#define FOUR(name, operand, TRANSPOSED, ALIGNED) \
  vec4 name(int start, int line, int at, int depth, int count) { \
    int width = TRANSPOSED ? count : depth; \
    int row = min(line, (TRANSPOSED ? depth : count) - 1); \
    vec4 four; \
    if (ALIGNED) { \
      four = operand##Vectors(start / 4 + row * (width / 4) + min(at, width - 4) / 4); \
    } else { \
      [[unroll]] for (int c = 0; c < 4; c++) four[c] = operand(start + row * width + min(at + c, width - 1)); \
    } \
    if (TRANSPOSED) return line < depth ? four : vec4(0); \
    return ALIGNED && at + 4 <= depth ? four : mix(vec4(0), four, lessThan(at + ivec4(0, 1, 2, 3), ivec4(depth))); \
  }
#define LEFT(line, at) left(xStart, line, at, depth, rows)
#define RIGHT(line, at) right(yStart, line, at, depth, columns)
FOUR(left, x, X_TRANSPOSED, X_ALIGNED)
FOUR(right, y, !Y_TRANSPOSED, Y_ALIGNED)

void store(int matrix, int rows, int columns, int row, int column, vec4 four) {
  if (row >= rows) return;
  int at = (matrix * rows + row) * columns + column;
  [[unroll]] for (int c = 0; c < 4; c++) {
    if (column + c < columns) z[at + c] = STORED_FLOAT(four[c]);
  }
}

#ifndef SHUFFLE
const int SLAB = 8;                       // of the depth
const int ACROSS = 64 / (ROWS / 8);       // invocations
const int LEFTS = ROWS / 4, RIGHTS = ACROSS;   // vectors of an element of the depth
shared vec4 lefts[SLAB * LEFTS];
shared vec4 rights[SLAB * RIGHTS];
#endif

void main() {
  EARLY(int, rows)
  EARLY(int, depth)
  EARLY(int, columns)
  int tile = min(groupPosition(), tiles - 1);
  int matrix = tile / (rowTiles * columnTiles);
  tile -= matrix * rowTiles * columnTiles;
  int rowTile = tile / columnTiles;
  int rest = matrix, xStart = 0, yStart = 0;
  [[unroll]] for (int axis = 3; axis >= 0; axis--) {
    int place = rest % batch[axis];
    rest /= batch[axis];
    xStart += place * xBatch[axis];
    yStart += place * yBatch[axis];
  }
  int firstRow = rowTile * ROWS;
#ifdef SHUFFLE
  int lane = int(gl_SubgroupInvocationID);
  int column = ((tile - rowTile * columnTiles) * LANES + lane) * 4;
  vec4 sum[ROWS];
  [[unroll]] for (int r = 0; r < ROWS; r++) sum[r] = vec4(0);
  for (int k = 0; k < depth; k += 4) {
    vec4 w[4], v[(ROWS + LANES - 1) / LANES];
    [[unroll]] for (int c = 0; c < 4; c++) {
      w[c] = Y_TRANSPOSED ? RIGHT(column + c, k) : RIGHT(k + c, column);
    }
    [[unroll]] for (int part = 0; part < (ROWS + LANES - 1) / LANES; part++) {
      int own = part * LANES + lane;
      v[part] = X_TRANSPOSED ? LEFT(k + own % 4, firstRow + own / 4 * 4) : LEFT(firstRow + own, k);
    }
    [[unroll]] for (int c = 0; c < 4; c++) {
      vec4 line = Y_TRANSPOSED ? vec4(w[0][c], w[1][c], w[2][c], w[3][c]) : w[c];
      [[unroll]] for (int r = 0; r < ROWS; r++) {
        int source = X_TRANSPOSED ? r / 4 * 4 + c : r;
        float value = subgroupShuffle(v[source / LANES][X_TRANSPOSED ? r % 4 : c], uint(source % LANES));
        sum[r] = fma(vec4(value), line, sum[r]);
      }
    }
  }
  [[unroll]] for (int r = 0; r < ROWS; r++) store(matrix, rows, columns, firstRow + r, column, sum[r]);
#else
  int own = int(gl_LocalInvocationID.x);
  int firstColumn = (tile - rowTile * columnTiles) * ACROSS * 4;
  int down = own / ACROSS, across = own % ACROSS;
  vec4 sum[8];
  [[unroll]] for (int r = 0; r < 8; r++) sum[r] = vec4(0);
  for (int k = 0; k < depth; k += SLAB) {
    // Of a line along the depth, SLAB / 4 vectors; of one across it, as many as the tile has. These are powers of two of
    // at most 64, so the invocation's part of a place is the same in all steps.
    [[unroll]] for (int step = 0; step < SLAB * LEFTS; step += 64) {
      int i = step + own;
      if (SLAB * LEFTS < 64 && i >= SLAB * LEFTS) continue;
      if (X_TRANSPOSED) {
        lefts[i] = LEFT(k + step / LEFTS + own / LEFTS, firstRow + own % LEFTS * 4);
      } else {
        int row = step / (SLAB / 4) + own / (SLAB / 4), part = own % (SLAB / 4) * 4;
        vec4 four = LEFT(firstRow + row, k + part);
        [[unroll]] for (int c = 0; c < 4; c++) lefts[(part + c) * LEFTS + row / 4][row % 4] = four[c];
      }
    }
    [[unroll]] for (int step = 0; step < SLAB * RIGHTS; step += 64) {
      int i = step + own;
      if (!Y_TRANSPOSED) {
        rights[i] = RIGHT(k + step / RIGHTS + own / RIGHTS, firstColumn + own % RIGHTS * 4);
      } else {
        int column = step / (SLAB / 4) + own / (SLAB / 4), part = own % (SLAB / 4) * 4;
        vec4 four = RIGHT(firstColumn + column, k + part);
        [[unroll]] for (int c = 0; c < 4; c++) rights[(part + c) * RIGHTS + column / 4][column % 4] = four[c];
      }
    }
    barrier();
    [[unroll]] for (int d = 0; d < SLAB; d++) {
      vec4 w = rights[d * RIGHTS + across];
      [[unroll]] for (int part = 0; part < 2; part++) {
        vec4 v = lefts[d * LEFTS + down * 2 + part];
        [[unroll]] for (int c = 0; c < 4; c++) sum[part * 4 + c] = fma(vec4(v[c]), w, sum[part * 4 + c]);
      }
    }
    barrier();
  }
  [[unroll]] for (int r = 0; r < 8; r++) {
    store(matrix, rows, columns, firstRow + down * 8 + r, firstColumn + across * 4, sum[r]);
  }
#endif
}
