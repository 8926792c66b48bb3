#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Exact sums of products of 8-bit integers less their zero points: PIXELS positions by BLOCKS times four columns an
// invocation.
//
// Sums are in floats, which hold them exactly, as long as they are below 2^24, and are faster than integers nearly
// everywhere: that is for CHANNELS products, of at most 255 * 255 each, after which they go to integers.
#include "common.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int PIXELS = 4;
layout(constant_id = 2) const bool SIGNED_WEIGHTS = true;
layout(constant_id = 3) const bool ROWS = false;          // positions are rows of channels, else channels are planes
layout(constant_id = 4) const bool SINGLE = false;        // a group has one column
layout(constant_id = 5) const bool REQUANTIZES = false;
layout(constant_id = 6) const int BLOCKS = 2;
layout(constant_id = 7) const bool LONG = true;           // sums are of more than CHANNELS products
const int CHANNELS = 256;

layout(push_constant) uniform Parameters {
  int count, positions, tiles;                   // a tile's positions are `tiles` apart
  int columnTiles, groups, channels, columns;    // channels and columns of a group
  int weightImage;                               // words between the weights of two images
  int outputHeight, outputWidth;
  int depth, height, width, kernelZ, kernelY, kernelX, strideZ, strideY, strideX;
  int dilationZ, dilationY, dilationX, beforeZ, beforeY, beforeX;
  float inverseTiles, inverseColumnTiles, inverseGroups, inverseHeight, inverseWidth;
};
layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)
WORDS(2, weights)   // a word is four columns
WORDS(3, table)
WORDS(4, zero)

vec4 unpacked(uint word) {
  return SIGNED_WEIGHTS
    ? vec4(bitfieldExtract(int(word), 0, 8), bitfieldExtract(int(word), 8, 8), bitfieldExtract(int(word), 16, 8),
           int(word) >> 24)
    : vec4(word & 0xFFu, word >> 8 & 0xFFu, word >> 16 & 0xFFu, word >> 24);
}

void store(int at, int sum, int column, int ownZero, int low, int high) {
  if (REQUANTIZES) {
    float scaled = roundEven(float(sum + int(table(3 * column + 1).x)) * uintBitsToFloat(table(3 * column + 2).x));
    scaled = isUnordered(scaled) ? 0.0 : clamp(scaled, -65536.0, 65536.0);
    sum = clamp(int(scaled) + ownZero, low, high);
  }
  y[at] = uint(sum);
}

void main() {
  int index = flatPosition();
  if (index >= count) return;
  int row = quotient(index, tiles, inverseTiles);
  int tile = index - row * tiles;
  int plane = quotient(row, columnTiles, inverseColumnTiles);
  int part = row - plane * columnTiles;
  int image = quotient(plane, groups, inverseGroups);
  int group = plane - image * groups;
  int first = part * BLOCKS * 4;                // column of the group
  int area = depth * height * width;
  int source = plane * channels * area, step_ = ROWS ? 1 : area;
  int stored = (columns + 3) / 4;
  int weight = image * weightImage + group * kernelZ * kernelY * kernelX * channels * stored;
  float xZero = float(int(zero(0).x));
  int word[BLOCKS];                             // the last again where there are no more
  vec4 weightZero[BLOCKS];
  [[unroll]] for (int b = 0; b < BLOCKS; b++) {
    word[b] = min(part * BLOCKS + b, stored - 1);
    [[unroll]] for (int j = 0; j < 4; j++) {
      weightZero[b][j] = float(int(table(3 * (group * columns + min(word[b] * 4 + j, columns - 1))).x));
    }
  }

  int front[PIXELS], top[PIXELS], left[PIXELS];
  vec4 sum[PIXELS * BLOCKS];
  ivec4 total[PIXELS * BLOCKS];
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = min(tile + i * tiles, positions - 1);
    int line = quotient(position, outputWidth, inverseWidth);
    int slice = quotient(line, outputHeight, inverseHeight);
    front[i] = slice * strideZ - beforeZ;
    top[i] = (line - slice * outputHeight) * strideY - beforeY;
    left[i] = (position - line * outputWidth) * strideX - beforeX;
  }
  [[unroll]] for (int i = 0; i < PIXELS * BLOCKS; i++) {
    sum[i] = vec4(0.0);
    total[i] = ivec4(0);
  }

  int pending = 0;
  for (int kz = 0; kz < kernelZ; kz++) {
    for (int ky = 0; ky < kernelY; ky++) {
      for (int kx = 0; kx < kernelX; kx++) {
        bool inside[PIXELS];
        int from[PIXELS];
        [[unroll]] for (int i = 0; i < PIXELS; i++) {
          int iz = front[i] + kz * dilationZ, iy = top[i] + ky * dilationY, ix = left[i] + kx * dilationX;
          inside[i] = iz >= 0 && iz < depth && iy >= 0 && iy < height && ix >= 0 && ix < width;
          from[i] = source + (inside[i] ? ((iz * height + iy) * width + ix) * (ROWS ? channels : 1) : 0);
        }
        for (int channel = 0; channel < channels;) {
          int end = min(channel + CHANNELS, channels);
          if (LONG && pending + end - channel > CHANNELS) {
            [[unroll]] for (int i = 0; i < PIXELS * BLOCKS; i++) {
              total[i] += ivec4(sum[i]);
              sum[i] = vec4(0.0);
            }
            pending = 0;
          }
          pending += end - channel;
          for (; channel < end; channel++) {
            vec4 w[BLOCKS];
            [[unroll]] for (int b = 0; b < BLOCKS; b++) w[b] = unpacked(weights(weight + word[b]).x) - weightZero[b];
            weight += stored;
            [[unroll]] for (int i = 0; i < PIXELS; i++) {
              float v = inside[i] ? float(int(x(from[i]).x)) - xZero : 0.0;
              from[i] += step_;
              if (SINGLE) {
                sum[i].x += v * w[0].x;
              } else {
                [[unroll]] for (int b = 0; b < BLOCKS; b++) sum[i * BLOCKS + b] += v * w[b];
              }
            }
          }
        }
      }
    }
  }

  int tail = 3 * groups * columns;
  int ownZero = int(table(tail).x), low = int(table(tail + 1).x), high = int(table(tail + 2).x);
  // Unrolled, and without ways out, so that sums stay in registers.
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = tile + i * tiles;
    [[unroll]] for (int b = 0; b < BLOCKS; b++) {
      ivec4 sums = total[i * BLOCKS + b] + ivec4(sum[i * BLOCKS + b]);
      [[unroll]] for (int j = 0; j < 4; j++) {
        int column = first + b * 4 + j;
        int at = ROWS ? (image * positions + position) * columns + column
          : (plane * columns + column) * positions + position;
        if (position < positions && column < columns) store(at, sums[j], group * columns + column, ownZero, low, high);
      }
    }
  }
}
