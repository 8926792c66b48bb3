#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// softmax(scale * q k^T + mask) v for each head of each batch, a few queries an invocation, KEYS keys at a time: what the
// largest score so far makes of earlier ones is put right when a larger one comes (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018), so that scores are never in memory. Long rows of values are cut into PARTS, of
// each of which an invocation makes the scores anew. Places and strides count in vectors of four elements, those of the mask,
// and with SCALARS all, in elements, which then may lie apart.
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 2) const int KEYS = 8;
layout(constant_id = 3) const int QUERIES = 1;
layout(constant_id = 4) const int WIDTH = 16;    // of queries and keys, in vectors
layout(constant_id = 5) const int VALUES = 16;   // of a part of values
layout(constant_id = 6) const bool MASKED = false;
layout(constant_id = 7) const int PARTS = 1;
layout(constant_id = 8) const int ROW_ELEMENTS = 64;   // of queries and keys
layout(constant_id = 9) const int ROW_RESULTS = 64;    // of values

layout(push_constant) uniform Parameters {
  int planes, heads;   // of all batches; of one
  int sharing;         // heads of queries to one of keys
  int queries, keys;
  // Offset of each operand, then its strides from batch to batch, from head to head and from row to row.
  int queryPlace[4], keyPlace[4], valuePlace[4];
  int resultPlace[3];   // strides only
  int maskPlace[4];     // without where it begins; from key to key
#ifdef SCALARS
  int steps[3];         // from element to element of queries, keys and values
#endif
  float scale;
};

#ifdef SCALARS
layout(binding = 0) writeonly buffer Output { STORED_FLOAT y[]; };
FLOATS(1, query)
FLOATS(2, key)
FLOATS(3, value)
// Elements that a row does not have are zero.
#define ONE(operand, at, i, step, count) ((i) < (count) ? operand((at) + min(i, (count) - 1) * (step)) : 0.0)
#define FOUR(operand, at, i, step, count) \
  vec4(ONE(operand, at, i, step, count), ONE(operand, at, (i) + 1, step, count), \
       ONE(operand, at, (i) + 2, step, count), ONE(operand, at, (i) + 3, step, count))
#define QUERY(at, d) FOUR(query, at, 4 * (d), steps[0], ROW_ELEMENTS)
#define KEY(at, d) FOUR(key, at, 4 * (d), steps[1], ROW_ELEMENTS)
#define VALUE(at, d) FOUR(value, at, 4 * (d), steps[2], ROW_RESULTS)
#else
layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
VECTORS(1, query)
VECTORS(2, key)
VECTORS(3, value)
#define QUERY(at, d) query((at) + (d))
#define KEY(at, d) key((at) + (d))
#define VALUE(at, d) value((at) + min(d, ROW_RESULTS / 4 - 1))
#endif
FLOATS(4, mask)

// KEYS vectors, one of each key from `start` on: with permutations, a lane reads that of one key, and as many keys as
// lanes are taken at a time. Lanes of missing keys are zero, because the values read in their place may be infinite.
#ifdef SHUFFLE
#define ROWS_OF(name, ELEMENTS, at, step, d) \
  int name##Own = min(start + int(gl_SubgroupInvocationID), keys - 1); \
  vec4 name = ELEMENTS((at) + name##Own * (step), d); \
  name = start + int(gl_SubgroupInvocationID) < keys ? name : vec4(0)
#define ROW(name, ELEMENTS, at, step, d, j) subgroupShuffle(name, uint(j))
#else
#define ROWS_OF(name, ELEMENTS, at, step, d)
#define ROW(name, ELEMENTS, at, step, d, j) \
  (start + (j) < keys ? ELEMENTS((at) + min(start + (j), keys - 1) * (step), d) : vec4(0))
#endif

void main() {
  EARLY(int, keys)
  EARLY(float, scale)
  int keyStep = keyPlace[3], valueStep = valuePlace[3], maskStep = maskPlace[3];
  int share = int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y);
  int plane = min(share / PARTS, planes - 1), part = share % PARTS * VALUES;
  int batch = plane / heads, head = plane - batch * heads;
  int row[QUERIES], at[QUERIES], masked[QUERIES];
  float largest[QUERIES], total[QUERIES];
  vec4 sum[QUERIES * VALUES];
  [[unroll]] for (int i = 0; i < QUERIES; i++) {
    int r = (int(gl_WorkGroupID.x) * QUERIES + i) * int(gl_WorkGroupSize.x) + int(gl_LocalInvocationID.x);
    row[i] = min(r, queries - 1);
    at[i] = queryPlace[0] + batch * queryPlace[1] + head * queryPlace[2] + row[i] * queryPlace[3];
    masked[i] = batch * maskPlace[0] + head * maskPlace[1] + row[i] * maskPlace[2];
    largest[i] = -infinity();
    total[i] = 0.0;
    [[unroll]] for (int d = 0; d < VALUES; d++) sum[i * VALUES + d] = vec4(0);
  }
  int keyHead = head / sharing;
  int keyAt = keyPlace[0] + batch * keyPlace[1] + keyHead * keyPlace[2];
  int valueAt = valuePlace[0] + batch * valuePlace[1] + keyHead * valuePlace[2];

  for (int start = 0; start < keys; start += KEYS) {
    float score[QUERIES * KEYS];
    [[unroll]] for (int j = 0; j < QUERIES * KEYS; j++) score[j] = 0.0;
    for (int d = 0; d < WIDTH; d++) {
      vec4 q[QUERIES];
      [[unroll]] for (int i = 0; i < QUERIES; i++) q[i] = QUERY(at[i], d);
      ROWS_OF(k, KEY, keyAt, keyStep, d);
      [[unroll]] for (int j = 0; j < KEYS; j++) {
        vec4 own = ROW(k, KEY, keyAt, keyStep, d, j);
        [[unroll]] for (int i = 0; i < QUERIES; i++) {
          [[unroll]] for (int c = 0; c < 4; c++) score[i * KEYS + j] = fma(q[i][c], own[c], score[i * KEYS + j]);
        }
      }
    }
    float rest[QUERIES];
    [[unroll]] for (int i = 0; i < QUERIES; i++) {
      float next = largest[i];
      [[unroll]] for (int j = 0; j < KEYS; j++) {
        float s = score[i * KEYS + j] * scale;
        if (MASKED) s += mask(masked[i] + min(start + j, keys - 1) * maskStep);
        s = start + j < keys ? s : -infinity();
        score[i * KEYS + j] = s;
        next = larger(next, s);
      }
      // While all scores are -infinity, nothing is added. If all of them are, the result 0 / 0 is not-a-number, as defined.
      float base = next == -infinity() ? 0.0 : next;
      rest[i] = exponential(largest[i] - base);
      largest[i] = next;
      total[i] *= rest[i];
      [[unroll]] for (int j = 0; j < KEYS; j++) {
        score[i * KEYS + j] = exponential(score[i * KEYS + j] - base);
        total[i] += score[i * KEYS + j];
      }
    }
    [[unroll]] for (int d = 0; d < VALUES; d++) {
      [[unroll]] for (int i = 0; i < QUERIES; i++) sum[i * VALUES + d] *= rest[i];
      ROWS_OF(v, VALUE, valueAt, valueStep, part + d);
      [[unroll]] for (int j = 0; j < KEYS; j++) {
        vec4 own = ROW(v, VALUE, valueAt, valueStep, part + d, j);
        [[unroll]] for (int i = 0; i < QUERIES; i++) {
          sum[i * VALUES + d] = fma(vec4(score[i * KEYS + j]), own, sum[i * VALUES + d]);
        }
      }
    }
  }

  [[unroll]] for (int i = 0; i < QUERIES; i++) {
    int target = batch * resultPlace[0] + head * resultPlace[1] + row[i] * resultPlace[2];
    float factor = 1.0 / total[i];
    [[unroll]] for (int d = 0; d < VALUES; d++) {
      vec4 result = sum[i * VALUES + d] * factor;
#ifdef SCALARS
      [[unroll]] for (int c = 0; c < 4; c++) {
        int element = 4 * (part + d) + c;
        if (element < ROW_RESULTS) y[target + element] = STORED_FLOAT(result[c]);
      }
#else
      if (PARTS == 1 || part + d < ROW_RESULTS / 4) y[target + part + d] = STORED_VECTOR(result);
#endif
    }
  }
}
