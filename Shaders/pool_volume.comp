#version 450
#extension GL_GOOGLE_include_directive : require
// The largest element or the mean of each window over up to three axes of a dense tensor, one result an invocation.
#include "common.glsl"
#include "integers.glsl"

// 0 maximum, 1 average of the elements inside the input, 2 average counting the padding
layout(constant_id = 1) const int FUNCTION = 0;
layout(constant_id = 2) const int KIND = 4;

layout(push_constant) uniform Parameters {
  int count, outputDepth, outputHeight, outputWidth;
  int depth, height, width, kernelZ, kernelY, kernelX, strideZ, strideY, strideX;
  int dilationZ, dilationY, dilationX, beforeZ, beforeY, beforeX, afterZ, afterY, afterX;
  float inverseDepth, inverseHeight, inverseWidth;
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int line = quotient(index, outputWidth, inverseWidth);
  int slice = quotient(line, outputHeight, inverseHeight);
  int plane = quotient(slice, outputDepth, inverseDepth);
  int front = (slice - plane * outputDepth) * strideZ - beforeZ;
  int top = (line - slice * outputHeight) * strideY - beforeY;
  int left = (index - line * outputWidth) * strideX - beforeX;
  int source = plane * depth * height * width;
  float result = FUNCTION == 0 ? -infinity() : 0.0;
  int largest = -0x7FFFFFFF, elements = 0;
  for (int kz = 0; kz < kernelZ; kz++) {
    int iz = front + kz * dilationZ;
    for (int ky = 0; ky < kernelY; ky++) {
      int iy = top + ky * dilationY;
      for (int kx = 0; kx < kernelX; kx++) {
        int ix = left + kx * dilationX;
        bool inside = iz >= 0 && iz < depth && iy >= 0 && iy < height && ix >= 0 && ix < width;
        uint v = x(source + (inside ? (iz * height + iy) * width + ix : 0)).x;
        if (KIND != FLOAT) largest = inside ? max(largest, int(v)) : largest;
        else if (FUNCTION == 0) result = inside ? larger(result, uintBitsToFloat(v)) : result;
        else result += inside ? uintBitsToFloat(v) : 0.0;
        bool counts = FUNCTION == 1 ? inside : iz < depth + afterZ && iy < height + afterY && ix < width + afterX;
        elements += counts ? 1 : 0;
      }
    }
  }
  if (KIND != FLOAT) y[index] = uint(largest);
  else y[index] = floatBitsToUint(FUNCTION == 0 ? result : result / float(max(elements, 1)));
}
