#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// softmax(scale * q k^T + mask) v for each head of each batch, a few queries an invocation, KEYS keys at a time: what the
// largest score so far makes of earlier ones is put right when a larger one comes (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018), so that scores are never in memory. Places and strides count in vectors of
// four elements, those of the mask in elements.
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"

layout(constant_id = 2) const int KEYS = 8;
layout(constant_id = 3) const int QUERIES = 1;
layout(constant_id = 4) const int WIDTH = 16;    // of queries and keys, in vectors
layout(constant_id = 5) const int VALUES = 16;   // of values
layout(constant_id = 6) const bool MASKED = false;

layout(push_constant) uniform Parameters {
  int planes, heads;   // of all batches; of one
  int queries, keys;
  // Where an operand begins; from batch to batch, from head to head, from row to row.
  int queryPlace[4], keyPlace[4], valuePlace[4];
  int resultPlace[3];   // without where it begins
  int maskPlace[4];     // without where it begins; from key to key
  float scale;
};

layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
VECTORS(1, query)
VECTORS(2, key)
VECTORS(3, value)
FLOATS(4, mask)

// KEYS vectors, one of each key from `start` on: with permutations, a lane reads that of one key, and as many keys as
// lanes are taken at a time. Those of keys that are not there are zero, for infinities among the values that stand in.
#ifdef SHUFFLE
#define ROWS_OF(name, operand, place, step) \
  int name##Own = min(start + int(gl_SubgroupInvocationID), keys - 1); \
  vec4 name = operand((place) + name##Own * (step)); \
  name = start + int(gl_SubgroupInvocationID) < keys ? name : vec4(0)
#define ROW(name, operand, place, step, j) subgroupShuffle(name, uint(j))
#else
#define ROWS_OF(name, operand, place, step)
#define ROW(name, operand, place, step, j) \
  (start + (j) < keys ? operand((place) + min(start + (j), keys - 1) * (step)) : vec4(0))
#endif

void main() {
  EARLY(int, keys)
  EARLY(float, scale)
  int keyStep = keyPlace[3], valueStep = valuePlace[3], maskStep = maskPlace[3];
  int plane = min(int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y), planes - 1);
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
  int keyAt = keyPlace[0] + batch * keyPlace[1] + head * keyPlace[2];
  int valueAt = valuePlace[0] + batch * valuePlace[1] + head * valuePlace[2];

  for (int start = 0; start < keys; start += KEYS) {
    float score[QUERIES * KEYS];
    [[unroll]] for (int j = 0; j < QUERIES * KEYS; j++) score[j] = 0.0;
    for (int d = 0; d < WIDTH; d++) {
      vec4 q[QUERIES];
      [[unroll]] for (int i = 0; i < QUERIES; i++) q[i] = query(at[i] + d);
      ROWS_OF(k, key, keyAt + d, keyStep);
      [[unroll]] for (int j = 0; j < KEYS; j++) {
        vec4 own = ROW(k, key, keyAt + d, keyStep, j);
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
      // Where all so far are -infinity nothing counts yet; where all are in the end, 0 / 0 is not a number, as it is due.
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
      ROWS_OF(v, value, valueAt + d, valueStep);
      [[unroll]] for (int j = 0; j < KEYS; j++) {
        vec4 own = ROW(v, value, valueAt + d, valueStep, j);
        [[unroll]] for (int i = 0; i < QUERIES; i++) {
          sum[i * VALUES + d] = fma(vec4(score[i * KEYS + j]), own, sum[i * VALUES + d]);
        }
      }
    }
  }

  [[unroll]] for (int i = 0; i < QUERIES; i++) {
    int target = batch * resultPlace[0] + head * resultPlace[1] + row[i] * resultPlace[2];
    float share = 1.0 / total[i];
    [[unroll]] for (int d = 0; d < VALUES; d++) y[target + d] = STORED_VECTOR(sum[i * VALUES + d] * share);
  }
}
