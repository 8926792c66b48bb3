#version 450
#extension GL_GOOGLE_include_directive : require
// Samples two axes of [outer, a, middle, b, inner]: each output position mixes two source positions an axis. Positions
// hold for each output position of a, then of b: lower source position, upper source position, share of the upper;
// source positions are clamped to their axis.
#include "common.glsl"

// Blocked tensors by four channels, dense ones by words of 32 bits, which are copied as they are where nothing is
// mixed.
#ifdef BLOCKED
#define WORD vec4
#define STORED STORED_VECTOR
#define OPERANDS VECTORS
#define FETCH(operand, at) operand(at)
#define REAL(word) (word)
#define BITS(real) (real)
#else
#define WORD uint
#define STORED uint
#define OPERANDS WORDS
#define FETCH(operand, at) operand(at).x
#define REAL(word) uintBitsToFloat(word)
#define BITS(real) floatBitsToUint(real)
#endif

layout(push_constant) uniform Parameters {
  int count;
  int inputA, outputA, middle, inputB, outputB, inner;
  float inverseA, inverseMiddle, inverseB, inverseInner;
};
layout(binding = 0) writeonly buffer Output { STORED y[]; };
OPERANDS(1, x)
WIDE_VECTORS(2, positions)

int placed(float position, int size) { return position > 0.0 ? int(min(position, float(size - 1))) : 0; }

WORD row(int base, vec4 place) {
  WORD low = FETCH(x, base + placed(place.x, inputB) * inner);
  if (place.z == 0.0) return low;
  return BITS(REAL(low) * (1.0 - place.z) + REAL(FETCH(x, base + placed(place.y, inputB) * inner)) * place.z);
}

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int rest = quotient(index, inner, inverseInner);
  int i = index - rest * inner;
  int next = quotient(rest, outputB, inverseB);
  vec4 b = positions(outputA + rest - next * outputB);
  rest = quotient(next, middle, inverseMiddle);
  int m = next - rest * middle;
  int outer = quotient(rest, outputA, inverseA);
  vec4 a = positions(rest - outer * outputA);
  int stride = middle * inputB * inner;
  int base = outer * inputA * stride + m * inputB * inner + i;
  WORD low = row(base + placed(a.x, inputA) * stride, b);
  if (a.z != 0.0) low = BITS(REAL(low) * (1.0 - a.z) + REAL(row(base + placed(a.y, inputA) * stride, b)) * a.z);
  y[index] = STORED(low);
}
