#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Rows of whole vectors brought to mean 0 and variance 1, then scaled and shifted element by element, or four rows at a time
// whose elements lie side by side: an invocation each, for drivers on which groups that share rows (normalize_lines.comp)
// wait long for each other.
#include "common.glsl"
#include "lanes.glsl"
#include "special.glsl"

layout(push_constant) uniform Parameters {
  int rows, vectors;     // of a row
  int areAcross;         // whether a vector's elements are of one row
  int scales, shifts;    // whether there are any, of rows that lie so
  float epsilon;
};

RESULTS(y)
VECTORS(1, x)
VECTORS(2, scale)
VECTORS(3, shift)

// The sum of the elements of a row, for each lane.
vec4 total(vec4 v, int areAcross) { return areAcross != 0 ? vec4((v.x + v.y) + (v.z + v.w)) : v; }

void main() {
  EARLY(int, vectors)
  EARLY(int, areAcross)
  EARLY(int, scales)
  EARLY(int, shifts)
  EARLY(float, epsilon)
  int start = min(flatPosition(), rows - 1) * vectors;
  float count = float(areAcross != 0 ? 4 * vectors : vectors);
  vec4 sum = vec4(0), squares = vec4(0);
  for (int i = 0; i < vectors; i++) sum += x(start + i);
  vec4 mean = total(sum, areAcross) / count;
  for (int i = 0; i < vectors; i++) {
    vec4 v = x(start + i) - mean;
    squares = fma(v, v, squares);
  }
  vec4 variance = total(squares, areAcross) / count;
  // If the squares overflow, 1 / infinity would make every element 0.
  vec4 factor = mix(vec4(notANumber()), 1.0 / sqrt(variance + epsilon), isFinite(variance));
  for (int i = 0; i < vectors; i++) {
    vec4 v = (x(start + i) - mean) * factor, own = scale(i), more = shift(i);
    v = scales != 0 ? v * own : v;
    v = shifts != 0 ? v + more : v;
    STORE_RESULT(y, start + i, v);
  }
}
