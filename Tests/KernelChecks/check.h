/* Checks every kernel of every instruction set that the machine runs against loops as plain as can be, in double or in
 * integers that wrap. A case has random shapes; its first difference is what it reports. */
#pragma once
#include "CKelvinKernels.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Random numbers: they depend on the seed, the family and the case alone. */
uint64_t draw(void);
size_t between(size_t least, size_t most);
bool one_in(size_t count);
float real(float least, float most);
#define PICK(...) \
  ((const size_t[]){__VA_ARGS__}[draw() % (sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))])

/* Allocates this many bytes until the case ends, filled with ones, which are NaN. The memory after them cannot be
 * accessed. */
void *memory(size_t size);
float *unset(size_t count);
float *reals(size_t count, float least, float most);
uint8_t *bytes(size_t count);

/* Describes the current case, for the report. */
__attribute__((format(printf, 1, 2))) void describe(const char *format, ...);

/* Runs all items, in pieces of random lengths, each with separate scratch memory. */
void run_all(ck_run run, const void *args, size_t items, size_t scratch);

/* Checks that numbers are equal within `slack`. A number that is not finite has to be equal. */
void expect_real(size_t index, double expected, double slack, float got);
void expect_integer(size_t index, int64_t expected, int64_t got);
/* Whether an element is as `memory` gave it. */
void expect_untouched(size_t index, float got);

static inline size_t parts(size_t count, size_t size) { return (count + size - 1) / size; }

/* The operand that a product makes of a number. Numbers of float16 keep all their digits at any scale. */
float operand_of(ck_operands type, float x);
/* How many times as large as those of float32 sums the errors of sums of products may be. */
double loss_of(ck_operands type);

/* A window whose results are at least one; of pooling, one whose padding is smaller than itself. */
ck_window random_window(bool is_pool);
/* The same, now and then so large that kernels take it band by band. */
ck_window random_window_in_bands(bool is_pool);
/* Sets the offset in its plane that a tap of an output reads; returns false if that is padding. */
bool tap_inside(const ck_window *w, size_t row, size_t column, size_t ky, size_t kx, size_t *at);
/* How many rows or columns of each window count for its mean: all, or where some are padding any number. */
const float *random_row_counts(const ck_window *w);
const float *random_column_counts(const ck_window *w);
void describe_window(const ck_window *w, const char *what, size_t a, size_t b, size_t c);

/* Biases and residuals of the given sizes or, at random, none; clamping bounds, and a map. */
ck_epilogue random_epilogue(const ck_kernels *k, size_t row_biases, size_t column_biases, size_t residuals);
/* The same after the epilogue, as element `at` of the result; `magnitude` is the sum of what was added, all positive. */
void expect_finished(
  const ck_epilogue *e, size_t row, size_t column, size_t at, double sum, double magnitude, float got);

/* Bytes of quantized integers, and their zero points, for `zeros` channels or for all. */
ck_integer_operand random_operand(size_t count, size_t zeros);
int32_t operand_value(const ck_integer_operand *o, size_t at);
int32_t operand_zero(const ck_integer_operand *o, size_t place);
/* To int32 or, if `narrows` or at random, to 8 bits; `channels` scales and biases. */
ck_requantization random_requantization(size_t channels, size_t depth, bool narrows);
void expect_requantized(
  const ck_requantization *o, size_t channel, size_t at, uint32_t sum, const void *results);

/* One case of a family. */
typedef void (*check)(const ck_kernels *kernels);

/* Defines the checks of a kernel for operands of each type; `kernel##_of` takes the kernels and the type. */
#define PRODUCT_CHECKS(kernel)                                                                                       \
  HALF_CHECKS(kernel)                                                                                                \
  PRODUCT_CHECK(kernel, kernel, k->products[ck_operands_float32], ck_operands_float32)                              \
  PRODUCT_CHECK(kernel, bfloat_##kernel, k->products[ck_operands_bfloat16], ck_operands_bfloat16)                   \
  PRODUCT_CHECK(kernel, tile_##kernel, &ck_tiles(false)->products, ck_operands_tiles)                               \
  PRODUCT_CHECK(kernel, emulated_tile_##kernel, &ck_tiles(true)->products, ck_operands_tiles)
#define HALF_CHECKS(kernel)                                                                                          \
  PRODUCT_CHECK(kernel, half_##kernel, k->products[ck_operands_float16], ck_operands_float16)                       \
  PRODUCT_CHECK(kernel, emulated_half_##kernel, ck_emulated_halves(), ck_operands_float16)
#define PRODUCT_CHECK(kernel, name, products, type) \
  void check_##name(const ck_kernels *k) { kernel##_of(k, products, type); }
/* Defines the checks of an integer kernel for vectors and for tiles; `kernel##_of` takes the kernels. */
#define INTEGER_CHECKS(kernel)                                                                       \
  void check_##kernel(const ck_kernels *k) { kernel##_of(k, k->integer, false); }                    \
  void check_tile_##kernel(const ck_kernels *k) { kernel##_of(k, &ck_tiles(false)->integers, true); } \
  void check_emulated_tile_##kernel(const ck_kernels *k) { kernel##_of(k, &ck_tiles(true)->integers, true); }
#define INTEGER_DECLARATIONS(kernel)                   \
  void check_##kernel(const ck_kernels *k);            \
  void check_tile_##kernel(const ck_kernels *k);       \
  void check_emulated_tile_##kernel(const ck_kernels *k);
#define PRODUCT_DECLARATIONS(kernel)                                                            \
  void check_half_##kernel(const ck_kernels *k);                                                \
  void check_emulated_half_##kernel(const ck_kernels *k);                                       \
  void check_##kernel(const ck_kernels *k);                                                     \
  void check_bfloat_##kernel(const ck_kernels *k);                                              \
  void check_tile_##kernel(const ck_kernels *k);                                                \
  void check_emulated_tile_##kernel(const ck_kernels *k);
PRODUCT_DECLARATIONS(gemm)
PRODUCT_DECLARATIONS(gemv)
PRODUCT_DECLARATIONS(pack_rows)
PRODUCT_DECLARATIONS(blocked_convolution)
void check_gemm_blas(const ck_kernels *k);
void check_coded(const ck_kernels *k);
PRODUCT_DECLARATIONS(coded_gemm)
void check_gather_coded(const ck_kernels *k);
void check_depthwise(const ck_kernels *k);
void check_window_pool(const ck_kernels *k);
void check_resize(const ck_kernels *k);
void check_fold(const ck_kernels *k);
void check_unary(const ck_kernels *k);
void check_binary(const ck_kernels *k);
void check_compare(const ck_kernels *k);
void check_select(const ck_kernels *k);
void check_chain(const ck_kernels *k);
void check_cast(const ck_kernels *k);
void check_half(const ck_kernels *k);
void check_reduce(const ck_kernels *k);
void check_softmax(const ck_kernels *k);
void check_batch_normalization(const ck_kernels *k);
void check_layer_normalization(const ck_kernels *k);
void check_rotary_embedding(const ck_kernels *k);
void check_running(const ck_kernels *k);
void check_response_normalization(const ck_kernels *k);
void check_attention(const ck_kernels *k);
void check_blocked_depthwise(const ck_kernels *k);
void check_blocked_pool(const ck_kernels *k);
void check_winograd(const ck_kernels *k);
void check_bfloat_winograd(const ck_kernels *k);
void check_tile_emulation(const ck_kernels *k);
void check_integer_tile_emulation(const ck_kernels *k);
INTEGER_DECLARATIONS(integer_gemm)
void check_range(const ck_kernels *k);
INTEGER_DECLARATIONS(quantize_rows)
void check_integer_depthwise(const ck_kernels *k);
void check_integer_pool(const ck_kernels *k);
void check_quantize(const ck_kernels *k);
void check_dequantize(const ck_kernels *k);
void check_integer_binary(const ck_kernels *k);
INTEGER_DECLARATIONS(integer_blocked_convolution)
void check_integer_blocked_depthwise(const ck_kernels *k);
void check_integer_blocked_pool(const ck_kernels *k);
void check_copy(const ck_kernels *k);
void check_arg_reduce(const ck_kernels *k);
void check_gather(const ck_kernels *k);
void check_gather_elements(const ck_kernels *k);
void check_scatter_elements(const ck_kernels *k);
void check_update_cache(const ck_kernels *k);
