/* All integer kernels of one instruction set. The including file has defined CK_LANES, CK_NAME and CK_INTEGER_GROUP,
 * the elements that a word holds. */
#pragma once
#include "integer_depthwise.h"
#include "integer_dynamic.h"
#include "integer_gemm.h"
#include "integer_pool.h"
#include "integer_quantize.h"
#if CK_INTEGER_GROUP == 4 && CK_LANES == 16
#include "integer_blocked_window.h"
#endif

const ck_integer_kernels CK_NAME(ck_integer_kernels) = {
  .gemm = CK_NAME(ck_i8_gemm),
  .pack_rows = CK_NAME(ck_i8_pack_rows),
  .pack_columns = CK_NAME(ck_i8_pack_columns),
  .depthwise = CK_NAME(ck_i8_depthwise),
  .pool = CK_NAME(ck_i8_pool),
  .quantize = CK_NAME(ck_i8_quantize),
  .dequantize = CK_NAME(ck_i8_dequantize),
  .binary = CK_NAME(ck_i8_binary),
  .range = CK_NAME(ck_i8_range),
  .quantize_rows = CK_NAME(ck_i8_quantize_rows),
  INTEGER_SHAPE,
  .depthwise_scratch = CK_NAME(ck_i8_depthwise_scratch),
#if CK_INTEGER_GROUP == 4 && CK_LANES == 16
  .blocked_convolution = CK_NAME(ck_i8_blocked_convolution),
  .blocked_depthwise = CK_NAME(ck_i8_blocked_depthwise),
  .blocked_pool = CK_NAME(ck_i8_blocked_pool),
  .blocked_depthwise_scratch = CK_NAME(ck_i8_blocked_depthwise_scratch),
#endif
};
