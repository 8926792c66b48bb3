#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// softmax(scale * q k^T + mask) v for each head of each batch. A group computes QUERIES queries of one head, whose
// invocations share the queries, their scores, and slabs of KEYS keys and values in local memory; while a slab is in use,
// the next one is read. When a larger score comes, earlier terms are rescaled, as in attention.comp. Offsets and strides
// count vectors of four elements, the mask's elements.
//
// With PARTS several groups share the keys of a tile; attention_sum.kernel describes and adds their sums.
#include "common.glsl"
#include "functions.glsl"

layout(constant_id = 1) const int KEYS = 32;     // a multiple of 16
layout(constant_id = 2) const int WIDTH = 16;    // of queries and keys, in vectors
layout(constant_id = 3) const int VALUES = 16;   // of values, in vectors
layout(constant_id = 4) const bool MASKED = false;
// Invocations side by side, each with one of as many neighbouring vectors of values.
layout(constant_id = 5) const int ACROSS = 16;

layout(push_constant) uniform Parameters {
  int planes, heads;   // of all batches; of one
  int sharing;         // heads of queries for one of keys
  int queries, keys;
  // The offset of each operand, then its strides from batch to batch, head to head and row to row.
  int queryPlace[4], keyPlace[4], valuePlace[4];
  int resultPlace[3];   // strides only
  int maskPlace[4];     // strides only, the last from key to key
  float scale;
  int parts;
};

#ifdef PARTS
layout(binding = 0) writeonly buffer Output { float y[]; };
#else
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
#endif
VECTORS(1, query)
VECTORS(2, key)
VECTORS(3, value)
FLOATS(4, mask)

const int QUERIES = 32, INVOCATIONS = int(gl_WorkGroupSize.x);   // 128 or 256
// Scores of an invocation: every SCORES_DOWN-th query, every sixteenth key.
const int SCORES_DOWN = INVOCATIONS / 16, SCORE_ROWS = QUERIES / SCORES_DOWN, SCORE_KEYS = KEYS / 16;
// Invocations that share the statistics of a query.
const int SHARERS = INVOCATIONS / QUERIES;
// Results of an invocation.
const int DOWN = INVOCATIONS / ACROSS, ROWS = QUERIES / DOWN, COLUMNS = (VALUES + ACROSS - 1) / ACROSS;
// Vectors that an invocation stages.
const int QUERY_LOADS = (QUERIES * WIDTH + INVOCATIONS - 1) / INVOCATIONS;
const int KEY_LOADS = (KEYS * WIDTH + INVOCATIONS - 1) / INVOCATIONS;
const int VALUE_LOADS = (KEYS * VALUES + INVOCATIONS - 1) / INVOCATIONS;
// Neighbouring rows begin in different banks.
const int LINE = WIDTH | 1, SCORE_LINE = KEYS / 4 + 1;
shared vec4 staged[QUERIES * LINE];
shared vec4 slab[KEYS * LINE > KEYS * VALUES ? KEYS * LINE : KEYS * VALUES];
shared vec4 scores[QUERIES * SCORE_LINE];
shared float shares[INVOCATIONS];
shared float rests[QUERIES];

// The sum that the invocations of a query share.
float totalOf(int row) {
  float sum = shares[row * SHARERS];
  [[unroll]] for (int i = 1; i < SHARERS; i++) sum += shares[row * SHARERS + i];
  return sum;
}

float largestOf(vec4 four) { return larger(larger(four.x, four.y), larger(four.z, four.w)); }

void main() {
  int own = int(gl_LocalInvocationID.x);
  int place = min(int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y), planes * parts - 1);
  int plane = place / parts, share = place - plane * parts;
  int span = (keys + parts * KEYS - 1) / (parts * KEYS) * KEYS, begin = share * span, end = min(begin + span, keys);
  int batch = plane / heads, head = plane - batch * heads, keyHead = head / sharing;
  int firstRow = int(gl_WorkGroupID.x) * QUERIES;
  int queryAt = queryPlace[0] + batch * queryPlace[1] + head * queryPlace[2];
  int keyAt = keyPlace[0] + batch * keyPlace[1] + keyHead * keyPlace[2];
  int valueAt = valuePlace[0] + batch * valuePlace[1] + keyHead * valuePlace[2];
  int maskAt = batch * maskPlace[0] + head * maskPlace[1];

  [[unroll]] for (int i = 0; i < QUERY_LOADS; i++) {
    int at = i * INVOCATIONS + own, row = at / WIDTH, d = at - row * WIDTH;
    if (row < QUERIES) staged[row * LINE + d] = query(queryAt + min(firstRow + row, queries - 1) * queryPlace[3] + d);
  }
  vec4 nextKeys[KEY_LOADS], nextValues[VALUE_LOADS];
  [[unroll]] for (int i = 0; i < KEY_LOADS; i++) {
    int at = i * INVOCATIONS + own, row = at / WIDTH;
    nextKeys[i] = key(keyAt + min(begin + row, keys - 1) * keyPlace[3] + at - row * WIDTH);
  }

  int statistic = own / SHARERS, part = own % SHARERS;
  float largest = -infinity(), total = 0.0;
  int scoreColumn = own % 16, scoreRow = own / 16, column = own % ACROSS, down = own / ACROSS;
  vec4 sum[ROWS * COLUMNS];
  [[unroll]] for (int i = 0; i < ROWS * COLUMNS; i++) sum[i] = vec4(0);

  for (int start = begin; start < end; start += KEYS) {
    [[unroll]] for (int i = 0; i < KEY_LOADS; i++) {
      int at = i * INVOCATIONS + own, row = at / WIDTH;
      if (row < KEYS) slab[row * LINE + at - row * WIDTH] = nextKeys[i];
    }
    barrier();
    // Values of missing keys are zero, because those read in their place may be infinite.
    [[unroll]] for (int i = 0; i < VALUE_LOADS; i++) {
      int at = i * INVOCATIONS + own, row = at / VALUES;
      vec4 four = value(valueAt + min(start + row, keys - 1) * valuePlace[3] + at - row * VALUES);
      nextValues[i] = start + row < keys ? four : vec4(0);
    }
    float score[SCORE_ROWS * SCORE_KEYS], added[SCORE_ROWS * SCORE_KEYS];
    [[unroll]] for (int i = 0; i < SCORE_ROWS; i++) {
      [[unroll]] for (int j = 0; j < SCORE_KEYS; j++) {
        int row = min(firstRow + i * SCORES_DOWN + scoreRow, queries - 1), k = min(start + j * 16 + scoreColumn, keys - 1);
        score[i * SCORE_KEYS + j] = 0.0;
        added[i * SCORE_KEYS + j] = MASKED ? mask(maskAt + row * maskPlace[2] + k * maskPlace[3]) : 0.0;
      }
    }
    [[dont_unroll]] for (int d = 0; d < WIDTH; d++) {
      vec4 q[SCORE_ROWS], k[SCORE_KEYS];
      [[unroll]] for (int i = 0; i < SCORE_ROWS; i++) q[i] = staged[(i * SCORES_DOWN + scoreRow) * LINE + d];
      [[unroll]] for (int j = 0; j < SCORE_KEYS; j++) k[j] = slab[(j * 16 + scoreColumn) * LINE + d];
      [[unroll]] for (int i = 0; i < SCORE_ROWS; i++) {
        [[unroll]] for (int j = 0; j < SCORE_KEYS; j++) {
          [[unroll]] for (int c = 0; c < 4; c++) {
            score[i * SCORE_KEYS + j] = fma(q[i][c], k[j][c], score[i * SCORE_KEYS + j]);
          }
        }
      }
    }
    [[unroll]] for (int i = 0; i < SCORE_ROWS; i++) {
      [[unroll]] for (int j = 0; j < SCORE_KEYS; j++) {
        int k = j * 16 + scoreColumn;
        float s = score[i * SCORE_KEYS + j] * scale;
        if (MASKED) s += added[i * SCORE_KEYS + j];
        scores[(i * SCORES_DOWN + scoreRow) * SCORE_LINE + k / 4][k % 4] = start + k < keys ? s : -infinity();
      }
    }
    barrier();
    float next = -infinity();
    [[unroll]] for (int j = part; j < KEYS / 4; j += SHARERS) {
      next = larger(next, largestOf(scores[statistic * SCORE_LINE + j]));
    }
    shares[own] = next;
    [[unroll]] for (int i = 0; i < VALUE_LOADS; i++) {
      int at = i * INVOCATIONS + own;
      if (at < KEYS * VALUES) slab[at] = nextValues[i];
    }
    barrier();
    next = largest;
    [[unroll]] for (int i = 0; i < SHARERS; i++) next = larger(next, shares[statistic * SHARERS + i]);
    // While all scores are -infinity, no term counts. If all are in the end, the result is 0 / 0, as defined.
    float base = next == -infinity() ? 0.0 : next, rest = exponential(largest - base);
    largest = next;
    total *= rest;
    [[unroll]] for (int j = part; j < KEYS / 4; j += SHARERS) {
      int at = statistic * SCORE_LINE + j;
      vec4 terms;
      [[unroll]] for (int c = 0; c < 4; c++) terms[c] = exponential(scores[at][c] - base);
      scores[at] = terms;
      total += (terms.x + terms.y) + (terms.z + terms.w);
    }
    if (part == 0) rests[statistic] = rest;
    barrier();
    [[unroll]] for (int i = 0; i < KEY_LOADS; i++) {
      int at = i * INVOCATIONS + own, row = at / WIDTH;
      nextKeys[i] = key(keyAt + min(start + KEYS + row, keys - 1) * keyPlace[3] + at - row * WIDTH);
    }
    [[unroll]] for (int i = 0; i < ROWS; i++) {
      [[unroll]] for (int j = 0; j < COLUMNS; j++) sum[i * COLUMNS + j] *= rests[i * DOWN + down];
    }
    [[dont_unroll]] for (int k = 0; k < KEYS / 4; k++) {
      vec4 terms[ROWS];
      [[unroll]] for (int i = 0; i < ROWS; i++) terms[i] = scores[(i * DOWN + down) * SCORE_LINE + k];
      [[unroll]] for (int c = 0; c < 4; c++) {
        [[unroll]] for (int j = 0; j < COLUMNS; j++) {
          vec4 four = slab[(k * 4 + c) * VALUES + min(j * ACROSS + column, VALUES - 1)];
          [[unroll]] for (int i = 0; i < ROWS; i++) {
            sum[i * COLUMNS + j] = fma(vec4(terms[i][c]), four, sum[i * COLUMNS + j]);
          }
        }
      }
    }
    barrier();
  }

  shares[own] = total;
  barrier();
#ifdef PARTS
  int all = planes * queries, statistics = all * parts * VALUES * 4;
  if (part == 0 && firstRow + statistic < queries) {
    int at = share * all + plane * queries + firstRow + statistic;
    y[statistics + at] = largest;
    y[statistics + all * parts + at] = begin < end ? totalOf(statistic) : -1.0;
  }
#endif
  [[unroll]] for (int i = 0; i < ROWS; i++) {
    int row = i * DOWN + down;
    float factor = 1.0 / totalOf(row);
    int target = batch * resultPlace[0] + head * resultPlace[1] + (firstRow + row) * resultPlace[2];
    [[unroll]] for (int j = 0; j < COLUMNS; j++) {
      int d = j * ACROSS + column;
      if (firstRow + row < queries && d < VALUES) {
        vec4 four = sum[i * COLUMNS + j];
#ifdef PARTS
        int at = ((share * all + plane * queries + firstRow + row) * VALUES + d) * 4;
        [[unroll]] for (int c = 0; c < 4; c++) y[at + c] = four[c];
#else
        y[target + d] = STORED_VECTOR(four * factor);
#endif
      }
    }
  }
}
