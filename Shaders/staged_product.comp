#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#if defined(NARROW) || defined(COOPERATIVE)
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#ifdef COOPERATIVE
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#endif
// Products with constant weights whose invocations share operands in local memory: a convolution on blocked tensors, one or
// many groups, as the product of its windows and weights; or rows times a matrix, whose rows are positions that hold all
// their channels side by side. A group computes HEIGHT positions of WIDTH output channels, an invocation PIXELS positions of
// 4 * BLOCKS channels. The depth, all taps' input blocks in the order of the weights, is taken in slabs; while one is
// multiplied, the next is read. Sums begin with the bias and run along the depth, as those of convolution.comp do. The phases
// of a transposed convolution stand in the place of groups, as there.
//
// Weights: [group][tile of 16 output channels][tap][input block][4 input channels][16 output channels].
//
// With PARTS several groups share the depth of a tile, and each writes its own sums, [share][result]; staged_sum.comp adds
// them.
//
// With NARROW local memory holds float16, and so do the sums of a slab. A group whose sums leave the range of float16
// computes all of them again in float32.
//
// With COOPERATIVE local memory holds float16, and subgroups multiply matrices from it, with sums in float32. A subgroup
// computes TALL by BROAD matrices of the tile at a time.
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 1) const int HEIGHT = 64;
layout(constant_id = 2) const int WIDTH = 64;
layout(constant_id = 3) const int PIXELS = 4;
layout(constant_id = 4) const int BLOCKS = 1;
layout(constant_id = 5) const int TAPS = 2;   // of a slab: 0 without windows, 1 if all its blocks are of one tap, else more
layout(constant_id = 6) const bool RESIDUAL = false;
layout(constant_id = 7) const uint ACTIVATION = UNARY_NONE;
layout(constant_id = 8) const bool ROWS = false;
layout(constant_id = 9) const bool TRANSPOSED = false;
#ifdef COOPERATIVE
layout(constant_id = 10) const int M = 16;
layout(constant_id = 11) const int N = 16;
layout(constant_id = 12) const int K = 16;
layout(constant_id = 13) const int TALL = 2;
layout(constant_id = 14) const int BROAD = 2;
#endif

layout(push_constant) uniform Parameters {
  int inputBlocks;    // of the whole input
  int groupBlocks;    // of the input of one group
  int outputBlocks;   // of the whole output
  int ownBlocks;      // of the output of one group
  int channels;       // of the output
  int positions;      // batch * output height * output width
  int columnTiles;    // WIDTH output channels of one group each
  int shares, slabs;  // of the depth, and of one share
  int inputArea, outputArea, outputWidth;
  int height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth, inverseBlocks, inverseKernelX;
  float first, second;
  int spreadHeight, spreadWidth;   // of a transposed one's output, whose sizes above are those of a phase
};

#ifdef PARTS
layout(binding = 0) writeonly buffer Output { vec4 y[]; };
#else
RESULTS(y)
#endif
VECTORS(1, x)
HALF_VECTORS(2, weights)
VECTORS(3, bias)
VECTORS(4, residual)

#ifdef COOPERATIVE
const int SLAB = 8;                                    // input blocks
#else
const int SLAB = 4;
#endif
const int ACROSS = WIDTH / (4 * BLOCKS), DOWN = HEIGHT / PIXELS;   // invocations
const int INVOCATIONS = ACROSS * DOWN;
const int LEFTS = SLAB * HEIGHT / INVOCATIONS;   // vectors an invocation stages
const int RIGHTS = (SLAB * WIDTH + INVOCATIONS - 1) / INVOCATIONS;
const bool WINDOWED = TAPS > 0;
// Lines are a little longer than their vectors, so that neighbours lie in different banks.
const int RIGHT_TILE = 16 * SLAB + 4;
#ifdef COOPERATIVE
const int LEFT_LINE = SLAB + 2, LEFT_LINES = HEIGHT;   // of a position
int leftPlace(int k, int row) { return row * LEFT_LINE + k; }
#else
const int LEFT_LINE = HEIGHT + 2, LEFT_LINES = SLAB;   // of an input block
int leftPlace(int k, int row) { return k * LEFT_LINE + row; }
#endif
#if defined(NARROW) || defined(COOPERATIVE)
#define STAGED f16vec4
#else
#define STAGED vec4
#endif
shared STAGED lefts[LEFT_LINES * LEFT_LINE];
shared STAGED rights[WIDTH / 16 * RIGHT_TILE];

// floor(a / d) for 0 <= a < 2^20, 0 < d, given 1.0 / d: half a unit is more than the product's error.
int smallQuotient(int a, float reciprocal) { return int((float(a) + 0.5) * reciprocal); }

int share, phaseY, phaseX;
int firstRow, firstColumn, firstOutput;   // the tile's position, its block of the group's output and of the whole output

// Writes the four sums of a row of the tile and of one of its blocks.
void finish(int row, int column, vec4 result) {
  int position = firstRow + row, block = firstOutput + column;
  int batch = quotient(position, outputArea, inverseArea), place = position - batch * outputArea;
  int area = outputArea;
  bool exists = position < positions && firstColumn + column < ownBlocks;
  if (TRANSPOSED) {
    int line = quotient(place, outputWidth, inverseWidth);
    int oy = line * strideY + phaseY - beforeY % strideY;
    int ox = (place - line * outputWidth) * strideX + phaseX - beforeX % strideX;
    exists = exists && oy >= 0 && oy < spreadHeight && ox >= 0 && ox < spreadWidth;
    area = spreadHeight * spreadWidth;
    place = oy * spreadWidth + ox;
  }
  if (!exists) return;
  int target = ROWS ? position * outputBlocks + block : (batch * outputBlocks + block) * area + place;
#ifdef PARTS
  y[share * positions * outputBlocks + target] = result;
#else
  if (RESIDUAL) result += residual(target);
  result = ACTIVATED(result);
  ivec4 channel = block * 4 + ivec4(0, 1, 2, 3);
  STORE_RESULT(y, target, mix(vec4(0), result, lessThan(channel, ivec4(channels))));
#endif
}

// The bias of a block of the tile, which the first share adds.
vec4 start(int column) { return share == 0 ? bias(min(firstOutput + column, outputBlocks - 1)) : vec4(0); }

#ifdef COOPERATIVE
#define OF(type, height, width, use) coopmat<type, gl_ScopeSubgroup, height, width, use>
#define SUMS OF(float, M, N, gl_MatrixUseAccumulator)
// The parts of a tile that subgroups compute, each of TALL by BROAD matrices. How many subgroups a group has is the driver's
// choice.
const int TEAMS_ACROSS = WIDTH / (BROAD * N), TEAMS = HEIGHT / (TALL * M) * TEAMS_ACROSS;
shared vec4 results[TEAMS * M * N / 4];
#else
// Adds the products of a slab.
#define MULTIPLY(type, sums) \
  [[unroll]] for (int k = 0; k < SLAB; k++) { \
    type v[PIXELS]; \
    [[unroll]] for (int i = 0; i < PIXELS; i++) v[i] = type(lefts[leftPlace(k, i * DOWN + down)]); \
    [[unroll]] for (int b = 0; b < BLOCKS; b++) { \
      int block = b * ACROSS + across; \
      [[unroll]] for (int c = 0; c < 4; c++) { \
        type column = type(rights[block / 4 * RIGHT_TILE + (k * 4 + c) * 4 + block % 4]); \
        [[unroll]] for (int i = 0; i < PIXELS; i++) { \
          sums[i * BLOCKS + b] = fma(type(v[i][c]), column, sums[i * BLOCKS + b]); \
        } \
      } \
    } \
  }
#ifdef NARROW
// Weights are multiplied by this, since products are more often near the lower end of float16's range than near the upper.
const float GAIN = 32.0;
shared uint overflows;
#endif
#endif

void main() {
  int own = int(gl_LocalInvocationID.x);
  int plane = int(gl_WorkGroupID.y);
  share = plane % shares;
  plane /= shares;
  int group = plane / columnTiles;
  firstColumn = (plane - group * columnTiles) * (WIDTH / 4);   // a block of the group's output
  firstRow = groupPosition() * HEIGHT;
  phaseY = TRANSPOSED ? group / strideX : 0;
  phaseX = TRANSPOSED ? group - phaseY * strideX : 0;
  int tapsY = kernelY, tapsX = kernelX, mostTaps = kernelY * kernelX;
  if (TRANSPOSED) {
    tapsY = (kernelY - phaseY + strideY - 1) / strideY;
    tapsX = (kernelX - phaseX + strideX - 1) / strideX;
    mostTaps = ((kernelY + strideY - 1) / strideY) * ((kernelX + strideX - 1) / strideX);
  }
  float inverseTapsX = TRANSPOSED ? 1.0 / float(tapsX) : inverseKernelX;
  int depth = tapsY * tapsX * groupBlocks;
  firstOutput = (TRANSPOSED ? 0 : group * ownBlocks) + firstColumn;

  // An invocation stages vectors of one position and several blocks; of rows, those of one block.
  int source[LEFTS], top = 0, left = 0;
  [[unroll]] for (int i = 0; i < LEFTS; i++) {
    int row = ROWS ? (i * INVOCATIONS + own) / SLAB : own % HEIGHT;
    int position = min(firstRow + row, positions - 1);
    if (ROWS) {
      source[i] = position * inputBlocks;
    } else {
      int batch = quotient(position, outputArea, inverseArea);
      int place = position - batch * outputArea;
      source[i] = (batch * inputBlocks + (TRANSPOSED ? 0 : group * groupBlocks)) * inputArea;
      if (WINDOWED) {
        int outputRow = quotient(place, outputWidth, inverseWidth);
        int outputColumn = place - outputRow * outputWidth;
        top = TRANSPOSED ? outputRow + beforeY / strideY : outputRow * strideY - beforeY;
        left = TRANSPOSED ? outputColumn + beforeX / strideX : outputColumn * strideX - beforeX;
      } else {
        source[i] += place;
      }
    }
  }
  int tiles = (ownBlocks + 3) / 4;
  int weight[RIGHTS];
  [[unroll]] for (int i = 0; i < RIGHTS; i++) {
    int tile = min(firstColumn / 4 + (i * INVOCATIONS + own) / (16 * SLAB), tiles - 1);
    weight[i] = (group * tiles + tile) * mostTaps * groupBlocks * 16;
  }

  int slab = share * slabs, end = min(slab + slabs, (depth + SLAB - 1) / SLAB);
#ifdef COOPERATIVE
  int team = int(gl_SubgroupID);
#else
  int across = own % ACROSS, down = own / ACROSS;
  vec4 sum[PIXELS * BLOCKS];
#endif
#ifdef NARROW
  if (own == 0) overflows = 0u;
  float gain = GAIN;
#else
  const float gain = 1.0;
#endif
  bool again = false;
  do {
#ifdef COOPERATIVE
    SUMS sum[TALL * BROAD];
    [[unroll]] for (int i = 0; i < TALL * BROAD; i++) sum[i] = SUMS(0.0);
    int teamRow = team / TEAMS_ACROSS * TALL * M, teamColumn = team % TEAMS_ACROSS * BROAD * N;
#else
    [[unroll]] for (int b = 0; b < BLOCKS; b++) {
      vec4 begin = gain * start(b * ACROSS + across);
      [[unroll]] for (int i = 0; i < PIXELS; i++) sum[i * BLOCKS + b] = begin;
    }
#endif

    STAGED nextLefts[LEFTS], nextRights[RIGHTS];
    for (int staged = slab - 1; staged < end; staged++) {
      if (staged >= slab) {
        [[unroll]] for (int i = 0; i < LEFTS; i++) {
          int at = i * INVOCATIONS + own;
          lefts[ROWS ? leftPlace(at % SLAB, at / SLAB) : leftPlace(at / HEIGHT, at % HEIGHT)] = nextLefts[i];
        }
        [[unroll]] for (int i = 0; i < RIGHTS; i++) {
          int at = i * INVOCATIONS + own;
          if (SLAB * WIDTH >= INVOCATIONS || at < SLAB * WIDTH) {
            rights[at / (16 * SLAB) * RIGHT_TILE + at % (16 * SLAB)] = nextRights[i];
          }
        }
        barrier();
      }
      if (staged + 1 < end) {
        [[unroll]] for (int i = 0; i < LEFTS; i++) {
          int at = i * INVOCATIONS + own;
          int slabStart = (staged + 1) * SLAB, k = slabStart + (ROWS ? at % SLAB : at / HEIGHT);
          bool inside = TAPS == 1 || k < depth;
          if (TAPS != 1) k = min(k, depth - 1);
          int from = source[i];
          if (WINDOWED) {
            int tap = smallQuotient(TAPS == 1 ? slabStart : k, inverseBlocks);
            int ky = smallQuotient(tap, inverseTapsX), kx = tap - ky * tapsX;
            int iy = top + (TRANSPOSED ? -ky : ky) * dilationY, ix = left + (TRANSPOSED ? -kx : kx) * dilationX;
            inside = inside && uint(iy) < uint(height) && uint(ix) < uint(width);
            from += (k - tap * groupBlocks) * inputArea + (inside ? iy * width + ix : 0);
          } else {
            from += ROWS ? k : k * inputArea;
          }
          vec4 four = x(from);
          nextLefts[i] = STAGED(inside ? four : vec4(0));
        }
        [[unroll]] for (int i = 0; i < RIGHTS; i++) {
          int at = (staged + 1) * (16 * SLAB) + (i * INVOCATIONS + own) % (16 * SLAB);
          vec4 four = weights(weight[i] + min(at, depth * 16 - 1));
          nextRights[i] = STAGED(at < depth * 16 ? gain * four : vec4(0));
        }
      }
      if (staged >= slab) {
#ifdef COOPERATIVE
        if (team < TEAMS) {
          [[unroll]] for (int k = 0; k < 4 * SLAB; k += K) {
            OF(float16_t, M, K, gl_MatrixUseA) a[TALL];
            [[unroll]] for (int r = 0; r < TALL; r++) {
              coopMatLoad(a[r], lefts, leftPlace(k / 4, teamRow + r * M), LEFT_LINE, gl_CooperativeMatrixLayoutRowMajor);
            }
            [[unroll]] for (int c = 0; c < BROAD; c++) {
              int column = teamColumn + c * N;
              OF(float16_t, K, N, gl_MatrixUseB) b;
              coopMatLoad(
                b, rights, column / 16 * RIGHT_TILE + k * 4 + column % 16 / 4, 4, gl_CooperativeMatrixLayoutRowMajor);
              [[unroll]] for (int r = 0; r < TALL; r++) {
                sum[r * BROAD + c] = coopMatMulAdd(a[r], b, sum[r * BROAD + c]);
              }
            }
          }
        }
#elif defined(NARROW)
        if (gain > 1.0) {
          f16vec4 part[PIXELS * BLOCKS];
          [[unroll]] for (int i = 0; i < PIXELS * BLOCKS; i++) part[i] = f16vec4(0);
          MULTIPLY(f16vec4, part)
          [[unroll]] for (int i = 0; i < PIXELS * BLOCKS; i++) sum[i] += vec4(part[i]);
        } else {
          MULTIPLY(vec4, sum)
        }
#else
        MULTIPLY(vec4, sum)
#endif
        barrier();
      }
    }

#ifdef COOPERATIVE
    [[unroll]] for (int r = 0; r < TALL; r++) {
      [[unroll]] for (int c = 0; c < BROAD; c++) {
        int stored = team * (M * N / 4);
        if (team < TEAMS) coopMatStore(sum[r * BROAD + c], results, stored, N / 4, gl_CooperativeMatrixLayoutRowMajor);
        barrier();
        for (int i = int(gl_SubgroupInvocationID); i < M * N / 4 && team < TEAMS; i += int(gl_SubgroupSize)) {
          // Neighbouring lanes write neighbouring vectors.
          int row = ROWS ? i / (N / 4) : i % M, block = ROWS ? i % (N / 4) : i / M;
          int column = (teamColumn + c * N) / 4 + block;
          finish(teamRow + r * M + row, column, results[stored + row * (N / 4) + block] + start(column));
        }
        barrier();
      }
    }
    team += int(gl_NumSubgroups);
    again = team - int(gl_SubgroupID) < TEAMS;
#elif defined(NARROW)
    if (gain > 1.0) {
      [[unroll]] for (int i = 0; i < PIXELS * BLOCKS; i++) {
        if (!all(isFinite(sum[i]))) overflows = 1u;
      }
      barrier();
      again = overflows == 1u;
      if (again) gain = 1.0;
    } else {
      again = false;
    }
#endif
  } while (again);

#ifndef COOPERATIVE
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    [[unroll]] for (int b = 0; b < BLOCKS; b++) {
      vec4 result = sum[i * BLOCKS + b];
#ifdef NARROW
      result *= 1.0 / gain;
#endif
      finish(i * DOWN + down, b * ACROSS + across, result);
    }
  }
#endif
}
