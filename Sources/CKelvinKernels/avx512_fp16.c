/* Products of operands rounded to float16, for processors with float16 arithmetic. The other kernels are those of
 * avx512.c, avx512_vnni.c and avx512_bf16.c. */
#if defined(__x86_64__)
#pragma clang attribute push(                                                                      \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512fp16,avx2,fma,f16c"))), apply_to = function)
#define CK_LANES 16
#define CK_NAME(kernel) kernel##__avx512_fp16
#include "half_products.h"
#pragma clang attribute pop
#endif
