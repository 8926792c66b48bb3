/* All kernels of one instruction set. The including file has defined CK_LANES, CK_NAME and CK_VARIANT, a string. */
#pragma once
#include "attention.h"
#include "batch_normalization.h"
#include "binary.h"
#include "blocked_window.h"
#include "cast.h"
#include "coded_product.h"
#include "compare.h"
#include "convert.h"
#include "depthwise.h"
#include "fold.h"
#include "gemm_blas.h"
#include "integer.h"
#include "layer_normalization.h"
#include "products.h"
#include "reduce.h"
#include "resize.h"
#include "response_normalization.h"
#include "rotary_embedding.h"
#include "running_floats.h"
#include "softmax.h"
#include "unary.h"
#include "window_pool.h"

#define CK_KERNELS(table, variant, integers, bfloat, half) const ck_kernels table = {                                  \
  .name = variant,                                                                                             \
  .lanes = CK_LANES,                                                                                           \
  .coded = CK_NAME(ck_coded),                                                                                  \
  .gemm_blas = CK_NAME(ck_f32_gemm_blas),                                                                      \
  .depthwise = CK_NAME(ck_f32_depthwise),                                                                      \
  .window_pool = CK_NAME(ck_f32_window_pool),                                                                  \
  .unary = CK_NAME(ck_f32_unary),                                                                              \
  .binary = CK_NAME(ck_f32_binary),                                                                            \
  .reduce = CK_NAME(ck_f32_reduce),                                                                            \
  .rotary_embedding = CK_NAME(ck_f32_rotary_embedding),                                                        \
  .running = CK_NAME(ck_f32_running),                                                                          \
  .softmax = CK_NAME(ck_f32_softmax),                                                                          \
  .batch_normalization = CK_NAME(ck_f32_batch_normalization),                                                  \
  .layer_normalization = CK_NAME(ck_f32_layer_normalization),                                                  \
  .response_normalization = CK_NAME(ck_f32_response_normalization),                                            \
  .attention = CK_NAME(ck_f32_attention),                                                                      \
  .attention_elements = CK_NAME(ck_attention_elements),                                                        \
  .resize = CK_NAME(ck_f32_resize),                                                                            \
  .fold = CK_NAME(ck_f32_fold),                                                                                \
  .blocked_depthwise = CK_NAME(ck_f32_blocked_depthwise),                                                      \
  .blocked_pool = CK_NAME(ck_f32_blocked_pool),                                                                \
  .compare = CK_NAME(ck_compare),                                                                              \
  .select = CK_NAME(ck_select),                                                                                \
  .cast = CK_NAME(ck_cast),                                                                                    \
  .float_from_half = CK_NAME(ck_f32_from_f16),                                                                 \
  .half_from_float = CK_NAME(ck_f16_from_f32),                                                                 \
  .gemm_width = gemm_width,                                                                                    \
  .window_elements = CK_NAME(ck_window_elements),                                                              \
  .pool_elements = CK_NAME(ck_pool_elements),                                                                  \
  .fold_elements = CK_NAME(ck_fold_elements),                                                                  \
  .maps = CK_MAPS,                                                                                             \
  .integer = &integers,                                                                                        \
  .products = {                                                                                                \
    [ck_operands_float32] = &CK_NAME(ck_product_kernels), [ck_operands_bfloat16] = bfloat,                     \
    [ck_operands_float16] = half},                                                                             \
  }

CK_KERNELS(CK_NAME(ck_kernels), CK_VARIANT, CK_NAME(ck_integer_kernels), NULL, NULL);
