/* Quantizes numbers to integers of 8 or 16 bits. */
#pragma once
#include "integer_simd.h"

#define CK_QUANTIZE_RUN(type, low, high)                                                                             \
  /* Elements with one scale and zero point. */                                                                      \
  CK_INLINE void CK_NAME(ck_quantize_run_##type)(const float *x, size_t count, float s, int32_t z, type *y) {        \
    float lower = (float)(low - z), upper = (float)(high - z);                                                       \
    for (size_t i = 0; i < count; i++) {                                                                             \
      float r = x[i] / s, v = r > lower ? r : lower;                                                                 \
      v = v < upper ? v : upper;                                                                                     \
      union { float f; int32_t i; } rounded = {v + 0x1.8p23f};                                                       \
      y[i] = r == r ? (type)(rounded.i - 0x4B400000 + z) : 0;                                                        \
    }                                                                                                                \
  }

CK_QUANTIZE_RUN(uint8_t, 0, 255)
CK_QUANTIZE_RUN(int8_t, -128, 127)
CK_QUANTIZE_RUN(uint16_t, 0, 65535)
CK_QUANTIZE_RUN(int16_t, -32768, 32767)
