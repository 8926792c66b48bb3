#pragma once
#include "ck_kernels.h"

/* Products of rows of float16: `gemm` of packed columns, `gemv` and `pack_rows`. The other kernels are null.
 *
 * Each row and column is divided by a power of two, so that its largest finite magnitude is from 8 to below 16. The
 * exponents of these scales, as float32, precede packed rows and packed columns: one for each line of their panels.
 * Runs of up to 16 products are added in float16, then in float32. */

/* The kernels by an emulation of the instructions, which computes the same bits on every processor. */
const ck_product_kernels *ck_emulated_halves(void);
