#if defined(__aarch64__)
#define CK_VARIANT "neon"
#define CK_NEON
#define CK_LANES 4
#define CK_INTEGER_GROUP 2
#define CK_NAME(kernel) kernel##__neon
#include "kernels.h"

extern const ck_integer_kernels ck_integer_kernels__neon_dotprod;
CK_KERNELS(ck_kernels__neon_dotprod, "neon_dotprod", ck_integer_kernels__neon_dotprod, NULL);
#endif
