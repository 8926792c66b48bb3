/* All kernels that multiply operands of one type (packed_operands.h), of one instruction set. */
#pragma once
#include "blocked_convolution.h"
#include "gemm.h"
#include "gemv.h"
#include "winograd.h"

const ck_product_kernels CK_NAME(ck_product_kernels) = {
  .gemm = CK_NAME(ck_f32_gemm),
  .gemv = CK_NAME(ck_f32_gemv_16),
  .pack_rows = CK_NAME(ck_f32_pack_rows),
  .blocked_convolution = CK_NAME(ck_f32_blocked_convolution),
  .winograd = CK_NAME(ck_f32_winograd),
};
