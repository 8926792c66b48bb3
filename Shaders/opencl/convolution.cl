// Convolution and matrix products with constant weights:
// y = activation(sum over taps and channels of x * w + bias + residual).
//
// A work item computes `run` tiles, one after another, of PIXELS output pixels by BLOCKS * LANES output channels.
// Weights are packed [group][channel tile][tap][input channel][BLOCKS * LANES], followed by zeros for LANES values of
// padding; they may be quantized (codes.cl).
//
// Strides describe tensors: pixel p, channel c of group g in image n of x is x[n * xImage + g * xGroup + c / LANES *
// xBlock + c % LANES * xLane + p * xPixel]; with PLANAR, xBlock is LANES * xLane.
//
// The last tile of pixels is moved back to end with the image, so it may compute some pixels a second time.
//
// A transposed convolution is an ordinary one for each phase of its stride. Phases replace groups and read the same
// channels: pixel q of phase r is output q * phases + r - crop, and reads every tap that is a whole number of strides
// after r.
//
// VARIANT, PIXELS, BLOCKS and PLANAR are defined by the host.

#include "variant.cl"
#include "meanings.kernel"
#include "codes.cl"

typedef struct {
  int pixels, width, inputHeight, inputWidth;
  int kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX, top, left;
  int channels, groups, outputs;
  int phasesY, phasesX, cropY, cropX, height, fullWidth;   // ordinary: 1, 1, 0, 0; then the output size
  int xImage, xGroup, xBlock, xLane, xPixel;
  int yImage, yGroup, yBlock, yLane, yPixel;
  int storesWholeBlocks, hasBias, hasResidual, swapsOrder, run;
  int activation;
  float a, b;
#ifdef CODE_BITS
  int rowStart, rowWords, rows, rowChannels, lastTable;   // `rows` of a tile, each for `rowChannels` channels
  float zero;
#endif
} NAMED(convolution_shape);

KERNEL void NAMED(convolution)(
    BUFFER(x), BUFFER(weights), BUFFER(bias), BUFFER(residual), BUFFER(y), NAMED(convolution_shape) s) {
  OPEN(const STORED, x);
#ifdef CODE_BITS
  OPEN(const uint, weights);
  const global STORED *zeros = (const global STORED *)((const global float *)weights + s.rowStart - LANES);
  PLACE origin = 0;
#else
  OPEN(const PACKED, weights);
  PLACE origin = weights;
#endif
  OPEN(const float, bias);
  OPEN(const STORED, residual);
  OPEN(STORED, y);
  const int run = get_global_id(s.swapsOrder) * s.run, part = get_global_id(1 - s.swapsOrder);
  const int image = get_global_id(2) / s.groups, group = get_global_id(2) % s.groups;
  const int parts = (s.outputs + BLOCKS * LANES - 1) / (BLOCKS * LANES);
  const int phaseY = group / s.phasesX % s.phasesY, phaseX = group % s.phasesX;
  const int tapRows = (s.kernelHeight + s.phasesY - 1 - phaseY) / s.phasesY;
  const int tapColumns = (s.kernelWidth + s.phasesX - 1 - phaseX) / s.phasesX;
  const int taps = ((s.kernelHeight + s.phasesY - 1) / s.phasesY) * ((s.kernelWidth + s.phasesX - 1) / s.phasesX);
  const int weightCount = taps * s.channels * BLOCKS * LANES;
#ifndef CODE_BITS
  const global STORED *zeros = (const global STORED *)(origin + (size_t)s.groups * parts * weightCount);
#endif
  x += (size_t)image * s.xImage + (size_t)group * s.xGroup;
  origin += (size_t)(group * parts + part) * weightCount;
  y += (size_t)image * s.yImage + (size_t)group * s.yGroup;
  residual += (size_t)image * s.yImage + (size_t)group * s.yGroup;

#if GROUP == 1
  const int isClip = s.activation == UNARY_CLIP, isRelu = s.activation == UNARY_RELU;
  const float lower = isRelu ? 0.0f : isClip ? s.a : -INFINITY, upper = isClip ? s.b : INFINITY;
  const int isPlain = s.yLane == 1 && (s.storesWholeBlocks || s.outputs % LANES == 0) && s.phasesY * s.phasesX == 1
      && s.pixels >= PIXELS && (isClip || isRelu || s.activation == UNARY_NONE);
#endif

  for (int tile = run; tile < run + s.run && tile * PIXELS < s.pixels; tile++) {
    const int first = max(min(tile * PIXELS, s.pixels - PIXELS), 0);
    int row[PIXELS], column[PIXELS];
    int oy = first / s.width, ox = first - oy * s.width;
    EACH(i) {
      row[i] = oy * s.strideY - s.top;
      column[i] = ox * s.strideX - s.left;
      if (first + i + 1 < s.pixels && ++ox == s.width) {
        ox = 0;
        oy++;
      }
    }
    PLACE w = origin;
    vec sum[PIXELS][BLOCKS];
    EACH(i) EACH_BLOCK(j) sum[i][j] = 0.0f;

    for (int ky = 0; ky < tapRows; ky++)
      for (int kx = 0; kx < tapColumns; kx++) {
        const global STORED *p[PIXELS];
        int step[PIXELS];
        EACH(i) {
          const int iy = row[i] + ky * s.dilationY, ix = column[i] + kx * s.dilationX;
          const int inside = iy >= 0 && iy < s.inputHeight && ix >= 0 && ix < s.inputWidth;
          p[i] = inside ? x + (size_t)(iy * s.inputWidth + ix) * s.xPixel : zeros;
#if PLANAR
          step[i] = inside ? s.xLane : 0;
#else
          step[i] = inside ? s.xBlock : 0;
#endif
        }
        BEGIN_MEANINGS;
#if PLANAR
        for (int c = 0; c < s.channels; c++, w += BLOCKS * LANES) {
          NEXT_MEANING(c);
          vec k[BLOCKS];
          EACH_BLOCK(j) k[j] = WEIGHT(j);
          EACH(i) {
            const vec value = AT(p[i], 0);
            p[i] += step[i];
            EACH_BLOCK(j) sum[i][j] = MULTIPLY_ADD(value, k[j], sum[i][j]);
          }
        }
#else
        const int whole = s.channels / LANES, rest = s.channels % LANES;
        for (int block = 0; block < whole; block++) {
          NEXT_MEANING(block * LANES);
          _Pragma("unroll 4") for (int c = 0; c < LANES; c++, w += BLOCKS * LANES) {
            vec k[BLOCKS];
            EACH_BLOCK(j) k[j] = WEIGHT(j);
            EACH(i) {
              const vec value = AT(p[i], c);
              EACH_BLOCK(j) sum[i][j] = MULTIPLY_ADD(value, k[j], sum[i][j]);
            }
          }
          EACH(i) p[i] += step[i];
        }
        NEXT_MEANING(whole * LANES);
        for (int c = 0; c < rest; c++, w += BLOCKS * LANES) {
          vec k[BLOCKS];
          EACH_BLOCK(j) k[j] = WEIGHT(j);
          EACH(i) {
            const vec value = AT(p[i], c);
            EACH_BLOCK(j) sum[i][j] = MULTIPLY_ADD(value, k[j], sum[i][j]);
          }
        }
#endif
      }

#if GROUP == 1
    // The most frequent epilogue, directly from registers; with few channels it is much of the work.
    if (isPlain) {
      EACH_BLOCK(j) {
        const int block = part * BLOCKS + j;
        if (block * LANES >= s.outputs) continue;
        vec offset = 0.0f;
        if (s.hasBias) offset = VECTOR(bias + ((size_t)group * parts * BLOCKS + block) * LANES);
        const size_t place = (size_t)block * s.yBlock + (size_t)first * s.yPixel;
        EACH(i) {
          vec v = sum[i][j] + offset;
          if (s.hasResidual) v += LOAD(residual + place + (size_t)i * s.yPixel);
          STORE(at_most(at_least(v, lower), upper), y + place + (size_t)i * s.yPixel);
        }
      }
      continue;
    }
#endif

    // A copy with a variable index, so that the sums above stay in registers and the following code is compiled once.
    vec sums[PIXELS * BLOCKS];
    EACH(i) EACH_BLOCK(j) sums[j * PIXELS + i] = sum[i][j];
    for (int j = 0; j < BLOCKS; j++) {
      const int block = part * BLOCKS + j;
      const int count = min(s.outputs - block * LANES, LANES);
      if (count <= 0) continue;
      vec offset = 0.0f;
      if (s.hasBias) offset = VECTOR(bias + ((size_t)group * parts * BLOCKS + block) * LANES);
      const int stored = s.storesWholeBlocks ? LANES : count;
      for (int i = 0; i < PIXELS && first + i < s.pixels; i++) {
        int pixel = first + i;
        if (s.phasesY * s.phasesX > 1) {
          const int y = pixel / s.width * s.phasesY + phaseY - s.cropY;
          const int x = pixel % s.width * s.phasesX + phaseX - s.cropX;
          if (y < 0 || y >= s.height || x < 0 || x >= s.fullWidth) continue;
          pixel = y * s.fullWidth + x;
        }
        const size_t place = (size_t)block * s.yBlock + (size_t)pixel * s.yPixel;
        vec v = sums[j * PIXELS + i] + offset;
        if (s.yLane == 1) {
          if (s.hasResidual) v += load_part(residual + place, stored, 0.0f);
          store_part(activate(s.activation, s.a, s.b, v), y + place, stored);
        } else {
          float lanes[LANES];
          if (s.hasResidual) {
            for (int c = 0; c < LANES; c++) lanes[c] = c < count ? AT(residual, place + (size_t)c * s.yLane) : 0.0f;
            v += VECTOR(lanes);
          }
          JOIN(vstore, LANES)(activate(s.activation, s.a, s.b, v), 0, lanes);
          for (int c = 0; c < count; c++) PUT(lanes[c], y, place + (size_t)c * s.yLane);
        }
      }
    }
  }
}
