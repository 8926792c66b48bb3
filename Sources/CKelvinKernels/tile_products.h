/* All kernels that multiply tiles, by the unit or by its emulation. */
#pragma once
#define CK_TILES
#include "gemm.h"
#include "gemv.h"
#include "tile_convolution.h"

const ck_product_kernels CK_NAME(ck_product_kernels) = {
  .gemm = CK_NAME(ck_f32_gemm),
  .gemv = CK_NAME(ck_f32_gemv_16),
  .pack_rows = CK_NAME(ck_f32_pack_rows),
  .blocked_convolution = CK_NAME(ck_f32_blocked_convolution),
};
