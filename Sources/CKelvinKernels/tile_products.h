/* All kernels that multiply tiles, by the unit or by its emulation. */
#pragma once
#define CK_TILES
#define CK_INTEGER_GROUP 4
#include "gemm.h"
#include "gemv.h"
#include "integer_dynamic.h"
#include "integer_gemm.h"
#include "tile_convolution.h"
#include "tile_integer_convolution.h"

const ck_tile_kernels CK_NAME(ck_tile_kernels) = {
  .products = {
    .gemm = CK_NAME(ck_f32_gemm),
    .gemv = CK_NAME(ck_f32_gemv_16),
    .pack_rows = CK_NAME(ck_f32_pack_rows),
    .blocked_convolution = CK_NAME(ck_f32_blocked_convolution),
  },
  .integers = {
    .gemm = CK_NAME(ck_i8_gemm),
    .pack_rows = CK_NAME(ck_i8_pack_rows),
    .pack_columns = CK_NAME(ck_i8_pack_columns),
    .range = CK_NAME(ck_i8_range),
    .quantize_rows = CK_NAME(ck_i8_quantize_rows),
    .blocked_convolution = CK_NAME(ck_i8_blocked_convolution),
    INTEGER_SHAPE,
  },
};
