#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A convolution on blocked tensors, one or many groups; or rows times a matrix, whose rows are positions that hold all
// their channels side by side. Each invocation computes PIXELS positions of 4 * BLOCKS output channels. Weights: [output
// tile][tap][input block][4 input channels][4 * BLOCKS output channels].
//
// A transposed convolution is an ordinary one for each phase of its stride, which stand in the place of groups: position
// q of phase r is output q * stride + r - before, and takes tap t * stride + r of input q - t * dilation.
//
// With CODED the weights are quantized; only ordinary convolutions have this variant.
#include "common.glsl"
#include "lanes.glsl"
#include "functions.glsl"
#ifdef CODED
#include "codes.glsl"
#endif

layout(constant_id = 2) const int BLOCKS = 2;
layout(constant_id = 3) const int PIXELS = 4;
layout(constant_id = 4) const bool WINDOWED = true;
layout(constant_id = 5) const bool RESIDUAL = false;
layout(constant_id = 6) const uint ACTIVATION = UNARY_NONE;
layout(constant_id = 7) const bool ROWS = false;
layout(constant_id = 8) const int CHUNK = 1;   // input blocks read together; they divide those of a group
layout(constant_id = 9) const bool TRANSPOSED = false;

layout(push_constant) uniform Parameters {
  int inputBlocks;   // of the whole input
  int groupBlocks;   // of the input of one group
  int groupTiles;    // output tiles of one group
  int outputBlocks;
  int channels;      // of the output
  int positions;     // batch * output height * output width
  int inputArea, outputArea, outputWidth;
  int height, width;
  int kernelY, kernelX, strideY, strideX, dilationY, dilationX, beforeY, beforeX;
  float inverseArea, inverseWidth;
  float first, second;
#ifdef CODED
  int rowStart, rowWords, rows, rowBlocks, lastTable;   // `rows` of a tile, each for so many input blocks
  float zero;
#endif
  int spreadHeight, spreadWidth;   // of a transposed one's output, whose sizes above are those of a phase
};

RESULTS(y)
VECTORS(1, x)
#ifdef CODED
CODES(2, weights, 10)
#define WEIGHT(index) weights(weight + (index), meaning[(index) % BLOCKS])
#else
HALF_VECTORS(2, weights)
#define WEIGHT(index) SHARED_VECTOR(w, weights, weight, index)
#endif
VECTORS(3, bias)
VECTORS(4, residual)

void main() {
  EARLY(int, groupBlocks)
  EARLY(int, outputBlocks)
  EARLY(int, channels)
  EARLY(int, inputArea)
  EARLY(int, outputArea)
  EARLY(int, height)
  EARLY(int, width)
  EARLY(int, dilationY)
  EARLY(int, dilationX)
  EARLY(float, first)
  EARLY(float, second)
  int tile = int(gl_WorkGroupID.y);
  int group = tile / groupTiles;
  int phaseY = TRANSPOSED ? group / strideX : 0, phaseX = TRANSPOSED ? group - phaseY * strideX : 0;
  int position[PIXELS], batch[PIXELS], place[PIXELS], source[PIXELS], top[PIXELS], left[PIXELS];
  [[unroll]] for (int i = 0; i < PIXELS; i++) {
    int p = (groupPosition() * PIXELS + i) * int(gl_WorkGroupSize.x) + int(gl_LocalInvocationID.x);
    position[i] = min(p, positions - 1);
    batch[i] = quotient(position[i], outputArea, inverseArea);
    place[i] = position[i] - batch[i] * outputArea;
    int firstBlock = batch[i] * inputBlocks + (TRANSPOSED ? 0 : group * groupBlocks);
    source[i] = ROWS ? position[i] * inputBlocks : firstBlock * inputArea;
    if (WINDOWED) {
      int row = quotient(place[i], outputWidth, inverseWidth);
      int column = place[i] - row * outputWidth;
      top[i] = TRANSPOSED ? row + beforeY / strideY : row * strideY - beforeY;
      left[i] = TRANSPOSED ? column + beforeX / strideX : column * strideX - beforeX;
    } else if (!ROWS) {
      source[i] += place[i];
    }
  }

  int firstOutput = (TRANSPOSED ? tile - group * groupTiles : tile) * BLOCKS;
  vec4 sum[PIXELS * BLOCKS];
  [[unroll]] for (int b = 0; b < BLOCKS; b++) {
    vec4 start = bias(firstOutput + b);
    [[unroll]] for (int i = 0; i < PIXELS; i++) sum[i * BLOCKS + b] = start;
  }

  int tapsY = WINDOWED ? kernelY : 1, tapsX = WINDOWED ? kernelX : 1;
  int weight = tile * kernelY * kernelX * groupBlocks * 4 * BLOCKS;
  if (TRANSPOSED) {
    weight = tile * ((kernelY + strideY - 1) / strideY) * ((kernelX + strideX - 1) / strideX) * groupBlocks * 4 * BLOCKS;
    tapsY = (kernelY - phaseY + strideY - 1) / strideY;
    tapsX = (kernelX - phaseX + strideX - 1) / strideX;
  }
  for (int ky = 0; ky < tapsY; ky++) {
    for (int kx = 0; kx < tapsX; kx++) {
      int at[PIXELS];
      bool inside[PIXELS];
      [[unroll]] for (int i = 0; i < PIXELS; i++) {
        at[i] = source[i];
        inside[i] = true;
        if (WINDOWED) {
          int iy = top[i] + (TRANSPOSED ? -ky : ky) * dilationY;
          int ix = left[i] + (TRANSPOSED ? -kx : kx) * dilationX;
          inside[i] = iy >= 0 && iy < height && ix >= 0 && ix < width;
          at[i] += inside[i] ? iy * width + ix : 0;
        }
      }
#ifdef CODED
      CodeMeaning meaning[BLOCKS];
      int row = rowStart + tile * rows * 4 * BLOCKS, rowEnd = 0;
#endif
      for (int block = 0; block < groupBlocks; block += CHUNK) {
        vec4 v[PIXELS * CHUNK];
        [[unroll]] for (int i = 0; i < PIXELS; i++) {
          [[unroll]] for (int part = 0; part < CHUNK; part++) {
            vec4 own = x(at[i]);
            v[i * CHUNK + part] = WINDOWED && !inside[i] ? vec4(0) : own;
            at[i] += ROWS ? 1 : inputArea;
          }
        }
        [[unroll]] for (int part = 0; part < CHUNK; part++) {
#ifdef CODED
          if (block + part == rowEnd) {
            [[unroll]] for (int b = 0; b < BLOCKS; b++) {
              meaning[b] = weightsMeaningAt(row + b * 4 + ivec4(0, 1, 2, 3), rowWords, lastTable, zero);
            }
            row += 4 * BLOCKS;
            rowEnd += rowBlocks;
          }
#endif
          SHARED_VECTORS(w, 4 * BLOCKS);
          LOAD_SHARED(w, 4 * BLOCKS, weights, weight);
          // Four products to a sum at a time: there may be more sums than registers.
          [[unroll]] for (int b = 0; b < BLOCKS; b++) {
            vec4 column[4];
            [[unroll]] for (int c = 0; c < 4; c++) column[c] = WEIGHT(c * BLOCKS + b);
            [[unroll]] for (int i = 0; i < PIXELS; i++) {
              vec4 s = sum[i * BLOCKS + b];
              [[unroll]] for (int c = 0; c < 4; c++) s = fma(vec4(v[i * CHUNK + part][c]), column[c], s);
              sum[i * BLOCKS + b] = s;
            }
          }
          weight += 4 * BLOCKS;
        }
      }
    }
  }

#ifdef LOOPED
  PENDING(PIXELS * BLOCKS)
#endif
  [[unroll]] for (int b = 0; b < BLOCKS; b++) {
    int block = firstOutput + b;
    if (block < outputBlocks) {
      ivec4 channel = block * 4 + ivec4(0, 1, 2, 3);
      [[unroll]] for (int i = 0; i < PIXELS; i++) {
        int target =
          ROWS ? position[i] * outputBlocks + block : (batch[i] * outputBlocks + block) * outputArea + place[i];
        bool exists = true;
        if (TRANSPOSED) {
          int oy = (top[i] - beforeY / strideY) * strideY + phaseY - beforeY % strideY;
          int ox = (left[i] - beforeX / strideX) * strideX + phaseX - beforeX % strideX;
          exists = oy >= 0 && oy < spreadHeight && ox >= 0 && ox < spreadWidth;
          target = ((batch[i] * outputBlocks + block) * spreadHeight + oy) * spreadWidth + ox;
        }
        vec4 result = sum[i * BLOCKS + b];
        if (RESIDUAL) result += residual(target);
#ifdef LOOPED
        pending[i * BLOCKS + b] = result;
        if (exists) pendingAt[i * BLOCKS + b] = target;
#else
        result = ACTIVATED(result);
        if (exists) STORE_RESULT(y, target, mix(vec4(0), result, lessThan(channel, ivec4(channels))));
#endif
      }
    }
  }
#ifdef LOOPED
  [[dont_unroll]] for (int k = 0; k < PIXELS * BLOCKS; k++) {
    ivec4 channel = (firstOutput + k % BLOCKS) * 4 + ivec4(0, 1, 2, 3);
    vec4 result = ACTIVATED(pending[k]);
    if (pendingAt[k] >= 0) STORE_RESULT(y, pendingAt[k], mix(vec4(0), result, lessThan(channel, ivec4(channels))));
  }
#endif
}
