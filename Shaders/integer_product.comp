#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef DOT
#extension GL_EXT_spirv_intrinsics : require
#endif
// Exact sums of products of 8-bit integers less their zero points: PIXELS positions by BLOCKS times four columns an
// invocation.
//
// Sums are in floats, which hold them exactly, as long as they are below 2^24, and are faster than integers nearly
// everywhere: that is for CHANNELS products, of at most 255 * 255 each, after which they go to integers.
//
// With DOT four channels are multiplied at once, as signed bytes in a word, where the hardware has an instruction for it.
// Zero points are taken out of the sums at the end: with bytes x and w, less zeros p and q, n of them, the sum is
// xw - q * x - p * w + n * p * q. Padding positions and padding channels are bytes of p and add nothing.
#include "common.glsl"
#include "integers.glsl"
#include "requantize.glsl"

layout(constant_id = 1) const int PIXELS = 4;
layout(constant_id = 2) const bool SIGNED_WEIGHTS = true;
layout(constant_id = 3) const bool ROWS = false;          // positions are rows of channels, else channels are planes
layout(constant_id = 4) const bool SINGLE = false;        // a group has one column
layout(constant_id = 5) const bool REQUANTIZES = false;
layout(constant_id = 6) const int BLOCKS = 2;
layout(constant_id = 7) const bool LONG = true;           // sums are of more than CHANNELS products
layout(constant_id = 8) const bool SIGNED_X = true;
// Taps that are read together: kernelX of one channel and one column, if a float holds the whole sum; else 1.
layout(constant_id = 9) const int TAPS = 1;
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

#ifdef DOT
// OpSDotKHR of PackedVectorFormat4x8Bit.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int packedDot(uint a, uint b, spirv_literal int format);
int dot4(uint a, uint b) { return packedDot(a, b, 0); }

const uint ONES = 0x01010101u, SIGNS = 0x80808080u;

// Columns of bytes from rows.
uvec4 transposed(uvec4 rows) {
  uvec4 even = rows & 0x00FF00FFu, odd = rows >> 8 & 0x00FF00FFu;
  uvec2 first = even.xz | even.yw << 8, second = odd.xz | odd.yw << 8;
  return uvec4(
    (first.x & 0xFFFFu) | first.y << 16, (second.x & 0xFFFFu) | second.y << 16,
    first.x >> 16 | (first.y & 0xFFFF0000u), second.x >> 16 | (second.y & 0xFFFF0000u));
}
#endif

vec4 unpacked(uint word) {
  return SIGNED_WEIGHTS
    ? vec4(bitfieldExtract(int(word), 0, 8), bitfieldExtract(int(word), 8, 8), bitfieldExtract(int(word), 16, 8),
           int(word) >> 24)
    : vec4(word & 0xFFu, word >> 8 & 0xFFu, word >> 16 & 0xFFu, word >> 24);
}

void store(int at, int sum, int column, int ownZero, int low, int high) {
  if (REQUANTIZES) {
    sum = requantized(
      sum, int(table(3 * column + 1).x), uintBitsToFloat(table(3 * column + 2).x), ownZero, low, high);
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
  int xZero = int(zero(0).x);
  int word[BLOCKS];                             // the last again where there are no more
  ivec4 weightZero[BLOCKS];
  [[unroll]] for (int b = 0; b < BLOCKS; b++) {
    word[b] = min(part * BLOCKS + b, stored - 1);
    [[unroll]] for (int j = 0; j < 4; j++) {
      weightZero[b][j] = int(table(3 * (group * columns + min(word[b] * 4 + j, columns - 1))).x);
    }
  }

  int front[PIXELS], top[PIXELS], left[PIXELS];
#ifdef DOT
  int xSum[PIXELS], terms = 0;
  ivec4 weightSum[BLOCKS];
  int xOffset = SIGNED_X ? 0 : 128, weightOffset = SIGNED_WEIGHTS ? 0 : 128;   // between bytes and signed bytes
#else
  vec4 sum[PIXELS * BLOCKS];
#endif
  ivec4 total[PIXELS * BLOCKS];
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = min(tile + i * tiles, positions - 1);
    int line = quotient(position, outputWidth, inverseWidth);
    int slice = quotient(line, outputHeight, inverseHeight);
    front[i] = slice * strideZ - beforeZ;
    top[i] = (line - slice * outputHeight) * strideY - beforeY;
    left[i] = (position - line * outputWidth) * strideX - beforeX;
  }
  [[unroll]] for (int i = 0; i < PIXELS * BLOCKS; i++) total[i] = ivec4(0);
#ifdef DOT
  [[unroll]] for (int i = 0; i < PIXELS; i++) xSum[i] = 0;
  [[unroll]] for (int b = 0; b < BLOCKS; b++) weightSum[b] = ivec4(0);
#else
  [[unroll]] for (int i = 0; i < PIXELS * BLOCKS; i++) sum[i] = vec4(0.0);
  int pending = 0;
#endif
  for (int kz = 0; kz < kernelZ; kz++) {
    for (int ky = 0; ky < kernelY; ky++) {
      for (int kx = 0; kx < kernelX; kx += TAPS) {
#ifndef DOT
        if (TAPS > 1) {
          [[unroll]] for (int tap = 0; tap < TAPS; tap++) {
            float w = unpacked(weights(weight++).x).x - float(weightZero[0].x);
            [[unroll]] for (int i = 0; i < PIXELS; i++) {
              int iz = front[i] + kz * dilationZ, iy = top[i] + ky * dilationY, ix = left[i] + tap * dilationX;
              bool exists = iz >= 0 && iz < depth && iy >= 0 && iy < height && ix >= 0 && ix < width;
              int from = source + (exists ? (iz * height + iy) * width + ix : 0);
              sum[i * BLOCKS].x += (exists ? float(int(x(from).x)) - float(xZero) : 0.0) * w;
            }
          }
          continue;
        }
#endif
        bool inside[PIXELS];
        int from[PIXELS];
        [[unroll]] for (int i = 0; i < PIXELS; i++) {
          int iz = front[i] + kz * dilationZ, iy = top[i] + ky * dilationY, ix = left[i] + kx * dilationX;
          inside[i] = iz >= 0 && iz < depth && iy >= 0 && iy < height && ix >= 0 && ix < width;
          from[i] = source + (inside[i] ? ((iz * height + iy) * width + ix) * (ROWS ? channels : 1) : 0);
        }
#ifdef DOT
        for (int channel = 0; channel < channels; channel += 4) {
          uint v[PIXELS];
          [[unroll]] for (int i = 0; i < PIXELS; i++) {
            v[i] = 0u;
            [[unroll]] for (int c = 0; c < 4; c++) {
              bool exists = inside[i] && channel + c < channels;
              v[i] = bitfieldInsert(v[i], exists ? x(from[i]).x : uint(xZero), 8 * c, 8);
              from[i] += step_;
            }
            v[i] ^= SIGNED_X ? 0u : SIGNS;
            xSum[i] += dot4(v[i], ONES);
          }
          [[unroll]] for (int b = 0; b < BLOCKS; b++) {
            uvec4 rows;
            [[unroll]] for (int c = 0; c < 4; c++) {
              rows[c] = weights(weight + min(c, channels - 1 - channel) * stored + word[b]).x;
            }
            uvec4 w = transposed(rows) ^ (SIGNED_WEIGHTS ? 0u : SIGNS);
            [[unroll]] for (int j = 0; j < 4; j++) {
              weightSum[b][j] += dot4(w[j], ONES);
              [[unroll]] for (int i = 0; i < PIXELS; i++) total[i * BLOCKS + b][j] += dot4(v[i], w[j]);
            }
          }
          weight += min(4, channels - channel) * stored;
          terms += 4;
        }
#else
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
            [[unroll]] for (int b = 0; b < BLOCKS; b++) {
              w[b] = unpacked(weights(weight + word[b]).x) - vec4(weightZero[b]);
            }
            weight += stored;
            [[unroll]] for (int i = 0; i < PIXELS; i++) {
              float v = inside[i] ? float(int(x(from[i]).x)) - float(xZero) : 0.0;
              from[i] += step_;
              if (SINGLE) {
                sum[i].x += v * w[0].x;
              } else {
                [[unroll]] for (int b = 0; b < BLOCKS; b++) sum[i * BLOCKS + b] += v * w[b];
              }
            }
          }
        }
#endif
      }
    }
  }

  int tail = 3 * groups * columns;
  int ownZero = int(table(tail).x), low = int(table(tail + 1).x), high = int(table(tail + 2).x);
  // Unrolled, and without ways out, so that sums stay in registers.
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int position = tile + i * tiles;
    [[unroll]] for (int b = 0; b < BLOCKS; b++) {
#ifdef DOT
      ivec4 sums = total[i * BLOCKS + b] - (weightZero[b] - weightOffset) * xSum[i]
        - (xZero - xOffset) * (weightSum[b] - terms * (weightZero[b] - weightOffset));
#else
      ivec4 sums = total[i * BLOCKS + b] + ivec4(sum[i * BLOCKS + b]);
#endif
      [[unroll]] for (int j = 0; j < 4; j++) {
        int column = first + b * 4 + j;
        int at = ROWS ? (image * positions + position) * columns + column
          : (plane * columns + column) * positions + position;
        if (position < positions && column < columns) store(at, sums[j], group * columns + column, ownZero, low, high);
      }
    }
  }
}
