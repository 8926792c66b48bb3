#include "ck_quantized.h"
#include "ck_tiles.h"
#include "packed_row_writer.h"

extern const ck_kernels ck_kernels__portable;
#if defined(__x86_64__)
extern const ck_kernels ck_kernels__avx2, ck_kernels__avx512, ck_kernels__avx512_vnni, ck_kernels__avx512_bf16;
extern const ck_kernels ck_kernels__avx512_fp16;
#elif defined(__aarch64__)
#include <sys/auxv.h>
extern const ck_kernels ck_kernels__neon, ck_kernels__neon_dotprod, ck_kernels__neon_fp16, ck_kernels__neon_bf16;
#endif

const ck_kernels *const *ck_variants(size_t *count) {
#if defined(__x86_64__)
  static const ck_kernels *const all[] = {
    &ck_kernels__avx512_fp16, &ck_kernels__avx512_bf16, &ck_kernels__avx512_vnni, &ck_kernels__avx512,
    &ck_kernels__avx2, &ck_kernels__portable};
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  bool vnni = avx512 && __builtin_cpu_supports("avx512vnni");
  bool bf16 = vnni && __builtin_cpu_supports("avx512bf16");
  bool fp16 = bf16 && __builtin_cpu_supports("avx512fp16");
  size_t first = fp16 ? 0 : bf16 ? 1 : vnni ? 2 : avx512 ? 3 : avx2 ? 4 : 5;
#elif defined(__aarch64__)
  static const ck_kernels *const all[] = {
    &ck_kernels__neon_bf16, &ck_kernels__neon_fp16, &ck_kernels__neon_dotprod, &ck_kernels__neon,
    &ck_kernels__portable};
  unsigned long capabilities = getauxval(AT_HWCAP);
  bool dotprod = capabilities & HWCAP_ASIMDDP, fp16 = dotprod && capabilities & HWCAP_ASIMDHP;
  bool bf16 = fp16 && getauxval(AT_HWCAP2) & HWCAP2_BF16;
  size_t first = bf16 ? 0 : fp16 ? 1 : dotprod ? 2 : 3;
#else
  static const ck_kernels *const all[] = {&ck_kernels__portable};
  size_t first = 0;
#endif
  *count = sizeof all / sizeof *all - first;
  return all + first;
}

size_t ck_packed_count(ck_operands type, size_t numbers) {
  switch (type) {
  case ck_operands_float32: return numbers;
  case ck_operands_bfloat16:
  case ck_operands_float16: return (numbers + 1) / 2;
  default: return (numbers + 2 * ck_tile_words - 1) / (2 * ck_tile_words) * ck_tile_words;
  }
}

size_t ck_packed_panel(ck_operands type) { return type == ck_operands_tiles ? ck_tile_rows : ck_gemm_rows; }

size_t ck_packed_rows_count(size_t rows, size_t depth, ck_operands type) {
  size_t panel = ck_packed_panel(type);
  return (rows + panel - 1) / panel * panel * (ck_packed_count(type, depth) + (type == ck_operands_float16));
}

size_t ck_packed_columns_count(size_t columns, size_t depth, ck_operands type) {
  size_t panels = (columns + ck_gemm_panel - 1) / ck_gemm_panel;
  return panels * ck_gemm_panel * (ck_packed_count(type, depth) + (type == ck_operands_float16));
}

/* `type` is a constant, so that the compiler generates a loop for each type. */
static inline __attribute__((always_inline)) void pack_columns(
  const float *w, size_t columns, size_t depth, size_t column_stride, size_t depth_stride, const ck_operands type,
  float *packed) {
  const bool has_scales = type == ck_operands_float16;
  float *exponents = packed;
  if (has_scales) packed += (columns + ck_gemm_panel - 1) / ck_gemm_panel * ck_gemm_panel;
  packed_row_writer lines = {packed, ck_gemm_panel, type};
  for (size_t first = 0; first < columns; first += ck_gemm_panel) {
    float factors[ck_gemm_panel];
    for (size_t j = 0; has_scales && j < ck_gemm_panel; j++) {
      float largest = 0;
      for (size_t k = 0; first + j < columns && k < depth; k++)
        largest = half_larger(largest, w[(first + j) * column_stride + k * depth_stride]);
      exponents[first + j] = half_exponent(largest);
      factors[j] = half_factor(exponents[first + j]);
    }
    for (size_t k = 0; k < depth; k++)
      for (size_t j = 0; j < ck_gemm_panel; j++) {
        float number = first + j < columns ? w[(first + j) * column_stride + k * depth_stride] : 0;
        packed_row_writer_put(&lines, k, j, has_scales ? number * factors[j] : number);
      }
    packed_row_writer_end(&lines, depth);
  }
}

void ck_pack_columns(
  const float *w, size_t columns, size_t depth, size_t column_stride, size_t depth_stride, ck_operands type,
  float *packed) {
  switch (type) {
  case ck_operands_float32:
    pack_columns(w, columns, depth, column_stride, depth_stride, ck_operands_float32, packed);
    break;
  case ck_operands_bfloat16:
    pack_columns(w, columns, depth, column_stride, depth_stride, ck_operands_bfloat16, packed);
    break;
  case ck_operands_float16:
    pack_columns(w, columns, depth, column_stride, depth_stride, ck_operands_float16, packed);
    break;
  default: pack_columns(w, columns, depth, column_stride, depth_stride, ck_operands_tiles, packed);
  }
}

size_t ck_integer_packed_count(const ck_integer_kernels *kernels, size_t lines, size_t panel, size_t depth) {
  size_t unit = kernels->unit;
  return (lines + panel - 1) / panel * panel * ((depth + unit - 1) / unit * unit / kernels->group + 1);
}
