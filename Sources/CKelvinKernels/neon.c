#if defined(__aarch64__)
#define CK_VARIANT "neon"
#define CK_NEON
#define CK_LANES 4
#define CK_INTEGER_GROUP 2
#define CK_NAME(kernel) kernel##__neon
#include "kernels.h"

extern const ck_integer_kernels ck_integer_kernels__neon_dotprod;
extern const ck_product_kernels ck_product_kernels__neon_bf16, ck_product_kernels__neon_fp16;
CK_KERNELS(ck_kernels__neon_dotprod, "neon_dotprod", ck_integer_kernels__neon_dotprod, NULL, NULL);
CK_KERNELS(
  ck_kernels__neon_fp16, "neon_dotprod+fp16", ck_integer_kernels__neon_dotprod, NULL, &ck_product_kernels__neon_fp16);
CK_KERNELS(
  ck_kernels__neon_bf16, "neon_dotprod+bf16+fp16", ck_integer_kernels__neon_dotprod, &ck_product_kernels__neon_bf16,
  &ck_product_kernels__neon_fp16);
#endif
