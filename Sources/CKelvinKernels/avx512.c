#if defined(__x86_64__)
#pragma clang attribute push(                                                                      \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), apply_to = function)
#define CK_VARIANT "avx512"
#define CK_LANES 16
#define CK_INTEGER_GROUP 2
#define CK_NAME(kernel) kernel##__avx512
#include "kernels.h"

extern const ck_integer_kernels ck_integer_kernels__avx512_vnni;
extern const ck_product_kernels ck_product_kernels__avx512_bf16, ck_product_kernels__avx512_fp16;
CK_KERNELS(ck_kernels__avx512_vnni, "avx512_vnni", ck_integer_kernels__avx512_vnni, NULL, NULL);
CK_KERNELS(
  ck_kernels__avx512_bf16, "avx512_vnni+bf16", ck_integer_kernels__avx512_vnni, &ck_product_kernels__avx512_bf16, NULL);
CK_KERNELS(
  ck_kernels__avx512_fp16, "avx512_vnni+bf16+fp16", ck_integer_kernels__avx512_vnni, &ck_product_kernels__avx512_bf16,
  &ck_product_kernels__avx512_fp16);
#pragma clang attribute pop
#endif
