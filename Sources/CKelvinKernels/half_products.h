/* Products of rows of float16, by instructions or by their emulation. */
#pragma once
#define CK_HALF
#include "gemm.h"
#include "gemv.h"

const ck_product_kernels CK_NAME(ck_product_kernels) = {
  .gemm = CK_NAME(ck_f32_gemm),
  .gemv = CK_NAME(ck_f32_gemv_16),
  .pack_rows = CK_NAME(ck_f32_pack_rows),
};
