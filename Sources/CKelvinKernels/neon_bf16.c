/* Products of operands rounded to bfloat16, for processors with bfloat16 instructions. The other kernels are those of
 * neon.c and neon_dotprod.c. */
#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("bf16"))), apply_to = function)
#define CK_NEON
#define CK_LANES 4
#define CK_BFLOAT
#define CK_NAME(kernel) kernel##__neon_bf16
#include "products.h"
#pragma clang attribute pop
#endif
