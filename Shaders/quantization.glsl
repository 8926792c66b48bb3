// The indices of the scale and zero point of each element of a dense tensor. Needs operands.glsl.

layout(push_constant) uniform Parameters {
  int count;
  // The parameters of element (o, i, n) of [outer, length, inner] are at o * outerStride + i / block * stride
  // + n * innerStride.
  int length, inner, block, outerStride, stride, innerStride;
  float inverseLength, inverseInner, inverseBlock;
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)
FLOATS(2, scale)
WORDS(3, zero)

int parameterAt(int index) {
  int rest = quotient(index, inner, inverseInner);
  int n = index - rest * inner;
  int o = quotient(rest, length, inverseLength);
  return o * outerStride + quotient(rest - o * length, block, inverseBlock) * stride + n * innerStride;
}
