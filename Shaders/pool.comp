#version 450
#extension GL_GOOGLE_include_directive : require
// The largest element or the mean of each window of a blocked tensor, four channels an invocation.
#include "common.glsl"
#include "special.glsl"

// 0 maximum, 1 average of the elements inside the input, 2 average counting the padding
layout(constant_id = 1) const int FUNCTION = 0;

layout(push_constant) uniform Parameters {
  int count;
  int outputArea, outputWidth, height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX, afterY, afterX;
  float inverseArea, inverseWidth;
};

layout(binding = 0) writeonly buffer Output { STORED_VECTOR y[]; };
VECTORS(1, x)

void main() {
  EARLY(int, outputArea)
  EARLY(int, outputWidth)
  EARLY(int, height)
  EARLY(int, width)
  EARLY(int, kernelY)
  EARLY(int, kernelX)
  EARLY(int, strideY)
  EARLY(int, strideX)
  EARLY(int, dilationY)
  EARLY(int, dilationX)
  EARLY(int, beforeY)
  EARLY(int, beforeX)
  EARLY(int, afterY)
  EARLY(int, afterX)
  EARLY(float, inverseArea)
  EARLY(float, inverseWidth)
  int index = flatPosition();
  if (index >= count) return;
  int plane = quotient(index, outputArea, inverseArea);
  int place = index - plane * outputArea;
  int oy = quotient(place, outputWidth, inverseWidth);
  int top = oy * strideY - beforeY;
  int left = (place - oy * outputWidth) * strideX - beforeX;
  int source = plane * height * width;
  vec4 result = vec4(FUNCTION == 0 ? -infinity() : 0.0);
  int elements = 0;
  for (int ky = 0; ky < kernelY; ky++) {
    int iy = top + ky * dilationY;
    for (int kx = 0; kx < kernelX; kx++) {
      int ix = left + kx * dilationX;
      bool inside = iy >= 0 && iy < height && ix >= 0 && ix < width;
      vec4 v = x(source + (inside ? iy * width + ix : 0));
      if (FUNCTION == 0) {
        result = inside ? larger(result, v) : result;
      } else {
        result += inside ? v : vec4(0);
        bool counts = FUNCTION == 1 ? inside : iy < height + afterY && ix < width + afterX;
        elements += counts ? 1 : 0;
      }
    }
  }
  y[index] = STORED_VECTOR(FUNCTION == 0 ? result : result / float(max(elements, 1)));
}
