/* Products of operands rounded to bfloat16, for processors with bfloat16 instructions. The other kernels are those
 * of avx512.c and avx512_vnni.c. */
#if defined(__x86_64__)
#pragma clang attribute push(                                                                      \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,f16c"))), apply_to = function)
#define CK_LANES 16
#define CK_BFLOAT
#define CK_NAME(kernel) kernel##__avx512_bf16
#include "products.h"
#pragma clang attribute pop
#endif
