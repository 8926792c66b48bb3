// z = x * y for each matrix of a batch, both operands given by strides in elements, of which at least one is 1.

typedef struct {
  int rows, columns, depth;
  int xRow, xDepth, yDepth, yColumn;
  int sizes[4], xStrides[4], yStrides[4];
} matmul_shape;

static inline size_t batch_place(int batch, const int *sizes, const int *strides) {
  size_t place = 0;
  for (int axis = 3; axis >= 0; axis--) {
    place += (size_t)(batch % sizes[axis]) * strides[axis];
    batch /= sizes[axis];
  }
  return place;
}

#if GROUP == 1

// A work item computes up to ITEM_ROWS rows of SPAN columns, a tile of ROWS at a time. It first packs a panel of its
// columns of y, PANEL of the depth at a time. Sums fill the registers as in a convolution (Tuning.swift).
#define ROWS (LANES < 16 ? 6 : 8)
#define SPAN (2 * LANES)
#define ITEM_ROWS 64
#define PANEL 128
#define EACH_TILE_ROW(i) _Pragma("unroll") for (int i = 0; i < ROWS; i++)

KERNEL void matmul(BUFFER(x), BUFFER(y), BUFFER(z), matmul_shape s) {
  OPEN(const STORED, x);
  OPEN(const STORED, y);
  OPEN(STORED, z);
  const int column = get_global_id(0) * SPAN, first = get_global_id(1) * ITEM_ROWS, batch = get_global_id(2);
  x += batch_place(batch, s.sizes, s.xStrides);
  y += batch_place(batch, s.sizes, s.yStrides) + (size_t)column * s.yColumn;
  z += (size_t)batch * s.rows * s.columns + column;
  const int count = min(s.columns - column, SPAN), last = min(first + ITEM_ROWS, s.rows);
  float panel[PANEL * SPAN];
  for (int start = 0; start == 0 || start < s.depth; start += PANEL) {
    const int depth = min(s.depth - start, PANEL);
    const global STORED *from = y + (size_t)start * s.yDepth;
    if (s.yColumn == 1) {
      for (int k = 0; k < depth; k++, from += s.yDepth) {
        JOIN(vstore, LANES)(load_part(from, count, 0.0f), 0, panel + k * SPAN);
        JOIN(vstore, LANES)(load_part(from + LANES, count - LANES, 0.0f), 0, panel + k * SPAN + LANES);
      }
    } else {
      for (int i = 0; i < SPAN; i++, from += s.yColumn)
        for (int k = 0; k < depth; k++) panel[k * SPAN + i] = i < count ? AT(from, (size_t)k * s.yDepth) : 0.0f;
    }
    for (int row = first; row < last; row += ROWS) {
      const global STORED *p[ROWS];
      vec sum[ROWS][2];
      EACH_TILE_ROW(i) {
        p[i] = x + (size_t)min(row + i, s.rows - 1) * s.xRow + (size_t)start * s.xDepth;
        sum[i][0] = sum[i][1] = 0.0f;
      }
      for (int k = 0; k < depth; k++) {
        const vec low = VECTOR(panel + k * SPAN), high = VECTOR(panel + k * SPAN + LANES);
        EACH_TILE_ROW(i) {
          const vec value = AT(p[i], (size_t)k * s.xDepth);
          sum[i][0] = MULTIPLY_ADD(value, low, sum[i][0]);
          sum[i][1] = MULTIPLY_ADD(value, high, sum[i][1]);
        }
      }
      // A copy with a variable index, so that the sums above stay in registers.
      vec sums[ROWS * 2];
      EACH_TILE_ROW(i) {
        sums[i * 2] = sum[i][0];
        sums[i * 2 + 1] = sum[i][1];
      }
      for (int i = 0; i < ROWS && row + i < last; i++)
        for (int part = 0; part < 2; part++) {
          const int stored = count - part * LANES;
          global STORED *target = z + (size_t)(row + i) * s.columns + part * LANES;
          if (stored <= 0) continue;
          vec result = sums[i * 2 + part];
          if (start > 0) result += load_part(target, stored, 0.0f);
          store_part(result, target, stored);
        }
    }
  }
}

#else

// A group computes TILE_ROWS rows of TILE_COLUMNS columns, an item 8 rows of 4. Slabs of both operands are shared in
// local memory. Beyond an operand's edges a slab holds zeros.
#define TILE_ROWS 64
#define TILE_COLUMNS (GROUP / (TILE_ROWS / 8) * 4)
#define SLAB 8

// Loads rows of an operand as `slab[element of the depth][row]`; `lineCount` and `depthCount` limit both axes.
static inline void load_slab(
    local float *slab, int lines, const global STORED *p, int line, int depth, int lineCount, int depthCount) {
  const int item = get_local_id(0);
  if (depth == 1) {
    _Pragma("unroll") for (int step = 0; step < lines * SLAB / 4; step += GROUP) {
      const int i = step + item;
      const int own = i / (SLAB / 4), k = i % (SLAB / 4) * 4;
      const float4 four = load_part(p + (size_t)own * line + k, own < lineCount ? depthCount - k : 0, 0.0f);
      slab[k * lines + own] = four.x;
      slab[(k + 1) * lines + own] = four.y;
      slab[(k + 2) * lines + own] = four.z;
      slab[(k + 3) * lines + own] = four.w;
    }
  } else {
    _Pragma("unroll") for (int step = 0; step < lines * SLAB / 4; step += GROUP) {
      const int i = step + item;
      const int k = i / (lines / 4), own = i % (lines / 4) * 4;
      vstore4(load_part(p + (size_t)k * depth + own, k < depthCount ? lineCount - own : 0, 0.0f), i, slab);
    }
  }
}

KERNEL void matmul(BUFFER(x), BUFFER(y), BUFFER(z), matmul_shape s) {
  OPEN(const STORED, x);
  OPEN(const STORED, y);
  OPEN(STORED, z);
  local float lefts[SLAB * TILE_ROWS], rights[SLAB * TILE_COLUMNS];
  const int item = get_local_id(0), batch = get_global_id(2);
  const int firstColumn = get_global_id(0) / GROUP * TILE_COLUMNS, firstRow = get_global_id(1) * TILE_ROWS;
  const int down = item / (TILE_COLUMNS / 4) * 8, across = item % (TILE_COLUMNS / 4) * 4;
  x += batch_place(batch, s.sizes, s.xStrides) + (size_t)firstRow * s.xRow;
  y += batch_place(batch, s.sizes, s.yStrides) + (size_t)firstColumn * s.yColumn;
  float4 sum[8];
  _Pragma("unroll") for (int i = 0; i < 8; i++) sum[i] = 0.0f;
  for (int k = 0; k < s.depth; k += SLAB) {
    load_slab(
        lefts, TILE_ROWS, x + (size_t)k * s.xDepth, s.xRow, s.xDepth, s.rows - firstRow, s.depth - k);
    load_slab(
        rights, TILE_COLUMNS, y + (size_t)k * s.yDepth, s.yColumn, s.yDepth, s.columns - firstColumn, s.depth - k);
    barrier(CLK_LOCAL_MEM_FENCE);
    _Pragma("unroll") for (int d = 0; d < SLAB; d++) {
      const float4 w = vload4(0, rights + d * TILE_COLUMNS + across);
      const float4 low = vload4(0, lefts + d * TILE_ROWS + down), high = vload4(1, lefts + d * TILE_ROWS + down);
      sum[0] = MULTIPLY_ADD((float4)low.x, w, sum[0]);
      sum[1] = MULTIPLY_ADD((float4)low.y, w, sum[1]);
      sum[2] = MULTIPLY_ADD((float4)low.z, w, sum[2]);
      sum[3] = MULTIPLY_ADD((float4)low.w, w, sum[3]);
      sum[4] = MULTIPLY_ADD((float4)high.x, w, sum[4]);
      sum[5] = MULTIPLY_ADD((float4)high.y, w, sum[5]);
      sum[6] = MULTIPLY_ADD((float4)high.z, w, sum[6]);
      sum[7] = MULTIPLY_ADD((float4)high.w, w, sum[7]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const int column = firstColumn + across;
  z += (size_t)batch * s.rows * s.columns + column;
  _Pragma("unroll") for (int i = 0; i < 8; i++) {
    const int row = firstRow + down + i;
    if (row < s.rows && column < s.columns) store_part(sum[i], z + (size_t)row * s.columns, s.columns - column);
  }
}

#endif
