/* The families of kernels, and the positions of their kernels in the tables. */
#include "CKernelChecks.h"
#include "report.h"

struct family {
  const char *name;
  check run;
  size_t cases;
  /* The offset of its kernel in the table. */
  size_t offset;
  enum {
    of_all, of_integers, products_of_float32, products_of_bfloat16, products_of_float16, of_emulated_halves, of_tiles,
    of_emulated_tiles, of_none,
  } table;
  /* A kernel that is in no table. */
  ck_run kernel;
};

#define REAL(kernel, cases) {#kernel, check_##kernel, cases, offsetof(ck_kernels, kernel), of_all, NULL}
#define INTEGER(name, kernel, cases) {#name, check_##name, cases, offsetof(ck_integer_kernels, kernel), of_integers, NULL}
#define TILE(table, name, kernel, cases) {#name, check_##name, cases, offsetof(ck_tile_kernels, kernel), table, NULL}
#define INTEGER_PRODUCT(name, kernel, cases)                                     \
  INTEGER(name, kernel, cases),                                                  \
  TILE(of_tiles, tile_##name, integers.kernel, cases),                           \
  TILE(of_emulated_tiles, emulated_tile_##name, integers.kernel, cases)
#define PRODUCT_OF(type, name, kernel, cases) \
  {#name, check_##name, cases, offsetof(ck_product_kernels, kernel), type, NULL}
#define PRODUCT(kernel, cases)                                                    \
  PRODUCT_OF(products_of_float32, kernel, kernel, cases),                         \
  PRODUCT_OF(products_of_bfloat16, bfloat_##kernel, kernel, cases),               \
  TILE(of_tiles, tile_##kernel, products.kernel, cases),                          \
  TILE(of_emulated_tiles, emulated_tile_##kernel, products.kernel, cases)
#define HALF(kernel, cases)                                                       \
  PRODUCT_OF(products_of_float16, half_##kernel, kernel, cases),                  \
  PRODUCT_OF(of_emulated_halves, emulated_half_##kernel, kernel, cases)
#define PLAIN(kernel, cases) {#kernel, check_##kernel, cases, 0, of_none, ck_##kernel##_run}
/* For checks of plain functions, which are the same for every instruction set. */
static void idle(const void *args, size_t begin, size_t end, void *scratch) {
  (void)args, (void)begin, (void)end, (void)scratch;
}

static const struct family families[] = {
  PRODUCT(gemm, 40),
  REAL(gemm_blas, 12),
  PRODUCT(gemv, 20),
  REAL(coded, 80),
  PRODUCT_OF(products_of_float32, coded_gemm, gemm, 40),
  PRODUCT_OF(products_of_bfloat16, bfloat_coded_gemm, gemm, 40),
  TILE(of_tiles, tile_coded_gemm, products.gemm, 40),
  TILE(of_emulated_tiles, emulated_tile_coded_gemm, products.gemm, 40),
  PRODUCT(pack_rows, 20),
  REAL(depthwise, 40),
  REAL(window_pool, 30),
  REAL(resize, 30),
  REAL(fold, 20),
  REAL(unary, 60),
  REAL(binary, 40),
  REAL(compare, 40),
  REAL(select, 30),
  REAL(cast, 20),
  {"half", check_half, 6, offsetof(ck_kernels, half_from_float), of_all, NULL},
  REAL(reduce, 60),
  REAL(softmax, 20),
  REAL(batch_normalization, 10),
  REAL(layer_normalization, 20),
  REAL(rotary_embedding, 20),
  REAL(running, 20),
  REAL(response_normalization, 20),
  REAL(attention, 20),
  PRODUCT(blocked_convolution, 60),
  REAL(blocked_depthwise, 40),
  REAL(blocked_pool, 20),
  PRODUCT_OF(products_of_float32, winograd, winograd, 20),
  PRODUCT_OF(products_of_bfloat16, bfloat_winograd, winograd, 20),
  INTEGER_PRODUCT(integer_gemm, gemm, 80),
  INTEGER(range, range, 30),
  INTEGER_PRODUCT(quantize_rows, quantize_rows, 40),
  INTEGER(integer_depthwise, depthwise, 50),
  INTEGER(integer_pool, pool, 20),
  INTEGER(quantize, quantize, 30),
  INTEGER(dequantize, dequantize, 30),
  INTEGER(integer_binary, binary, 30),
  INTEGER_PRODUCT(integer_blocked_convolution, blocked_convolution, 60),
  INTEGER(integer_blocked_depthwise, blocked_depthwise, 50),
  INTEGER(integer_blocked_pool, blocked_pool, 20),
  {"tile_emulation", check_tile_emulation, 40, 0, of_none, idle},
  {"integer_tile_emulation", check_integer_tile_emulation, 10, 0, of_none, idle},
  PLAIN(chain, 60),
  PLAIN(copy, 100),
  PLAIN(arg_reduce, 40),
  PLAIN(gather, 40),
  PLAIN(gather_coded, 30),
  PLAIN(gather_elements, 60),
  PLAIN(scatter_elements, 60),
  PLAIN(update_cache, 60),
  HALF(gemm, 40),
  HALF(gemv, 20),
  HALF(pack_rows, 20),
};

static ck_run kernel_of(const struct family *f, const ck_kernels *k) {
  if (f->table == of_none) return f->kernel;
  const void *tables[] = {
    [of_all] = k, [of_integers] = k->integer, [products_of_float32] = k->products[ck_operands_float32],
    [products_of_bfloat16] = k->products[ck_operands_bfloat16],
    [products_of_float16] = k->products[ck_operands_float16], [of_emulated_halves] = ck_emulated_halves(),
    [of_tiles] = ck_request_tiles() == ck_tiles_usable ? ck_tiles(false) : NULL,
    [of_emulated_tiles] = ck_tiles(true)};
  if (!tables[f->table]) return NULL;
  ck_run run;
  memcpy(&run, (const char *)tables[f->table] + f->offset, sizeof run);
  return run;
}

size_t kernel_check_families(void) { return sizeof families / sizeof *families; }
const char *kernel_check_family(size_t family) { return families[family].name; }

size_t kernel_check_variants(void) {
  size_t count;
  ck_variants(&count);
  return count;
}

const char *kernel_check_variant(size_t variant) {
  size_t count;
  return ck_variants(&count)[variant]->name;
}

kernel_verdict kernel_check_run(size_t family, size_t variant, uint64_t seed, char *text, size_t size) {
  size_t count;
  const ck_kernels *const *variants = ck_variants(&count);
  const struct family *checked = families + family;
  ck_run kernel = kernel_of(checked, variants[variant]);
  if (!kernel) return kernel_is_missing;
  for (size_t i = 0; i < variant; i++)
    if (kernel_of(checked, variants[i]) == kernel) return kernel_is_shared;
  for (size_t i = 0; i < checked->cases; i++) {
    begin_case(checked->name, variants[variant]->name, seed, family, i);
    checked->run(variants[variant]);
    if (!end_case(text, size)) return kernel_differs;
  }
  return kernel_agrees;
}
