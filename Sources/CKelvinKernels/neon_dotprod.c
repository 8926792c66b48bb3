/* Integer kernels for processors that multiply 8-bit elements. The other kernels are those of neon.c. */
#if defined(__aarch64__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#define CK_NEON
#define CK_LANES 4
#define CK_INTEGER_GROUP 4
#define CK_NAME(kernel) kernel##__neon_dotprod
#include "integer.h"
#pragma clang attribute pop
#endif
