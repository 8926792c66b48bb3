#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Rows of whole vectors brought to mean 0 and variance 1, then scaled and shifted element by element: a row an invocation,
// for drivers on which groups that share rows (normalize_lines.comp) wait long for each other.
#include "common.glsl"
#include "lanes.glsl"
#include "special.glsl"

layout(push_constant) uniform Parameters {
  int rows, vectors;     // of a row
  int scales, shifts;    // whether there are any
  float epsilon;
};

RESULTS(y)
VECTORS(1, x)
VECTORS(2, scale)
VECTORS(3, shift)

float total(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

void main() {
  EARLY(int, vectors)
  EARLY(int, scales)
  EARLY(int, shifts)
  EARLY(float, epsilon)
  int start = min(flatPosition(), rows - 1) * vectors;
  float count = float(4 * vectors);
  vec4 sum = vec4(0), squares = vec4(0);
  for (int i = 0; i < vectors; i++) sum += x(start + i);
  float mean = total(sum) / count;
  for (int i = 0; i < vectors; i++) {
    vec4 v = x(start + i) - mean;
    squares = fma(v, v, squares);
  }
  float variance = total(squares) / count;
  // Where the squares left the range, 1 / infinity would make every element 0.
  float factor = isFinite(variance) ? 1.0 / sqrt(variance + epsilon) : notANumber();
  for (int i = 0; i < vectors; i++) {
    vec4 v = (x(start + i) - mean) * factor, own = scale(i), more = shift(i);
    v = scales != 0 ? v * own : v;
    v = shifts != 0 ? v + more : v;
    STORE_RESULT(y, start + i, v);
  }
}
