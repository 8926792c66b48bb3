/* The same kernels as avx512_fp16.c by the emulated instructions. */
#include "ck_halves.h"
#define CK_LANES 4
#define CK_NAME(kernel) kernel##__halves
#include "half_products.h"

const ck_product_kernels *ck_emulated_halves(void) { return &ck_product_kernels__halves; }
