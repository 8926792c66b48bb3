/* Products of operands rounded to float16, for processors with float16 arithmetic. The other kernels are those of
 * neon.c and neon_dotprod.c. */
#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("fullfp16"))), apply_to = function)
#define CK_NEON
#define CK_LANES 4
#define CK_NAME(kernel) kernel##__neon_fp16
#include "half_products.h"
#pragma clang attribute pop
#endif
