#include "ck_quantized.h"
#include "ck_tiles.h"
#include "packed_row_writer.h"

extern const ck_kernels ck_kernels__portable;
#if defined(__x86_64__)
extern const ck_kernels ck_kernels__avx2, ck_kernels__avx512, ck_kernels__avx512_vnni, ck_kernels__avx512_bf16;
#elif defined(__aarch64__)
#include <sys/auxv.h>
extern const ck_kernels ck_kernels__neon, ck_kernels__neon_dotprod;
#endif

const ck_kernels *const *ck_variants(size_t *count) {
#if defined(__x86_64__)
  static const ck_kernels *const all[] = {
    &ck_kernels__avx512_bf16, &ck_kernels__avx512_vnni, &ck_kernels__avx512, &ck_kernels__avx2,
    &ck_kernels__portable};
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  bool vnni = avx512 && __builtin_cpu_supports("avx512vnni");
  bool bf16 = vnni && __builtin_cpu_supports("avx512bf16");
  size_t first = bf16 ? 0 : vnni ? 1 : avx512 ? 2 : avx2 ? 3 : 4;
#elif defined(__aarch64__)
  static const ck_kernels *const all[] = {&ck_kernels__neon_dotprod, &ck_kernels__neon, &ck_kernels__portable};
  size_t first = getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? 0 : 1;
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
  case ck_operands_bfloat16: return (numbers + 1) / 2;
  default: return (numbers + 2 * ck_tile_words - 1) / (2 * ck_tile_words) * ck_tile_words;
  }
}

size_t ck_packed_panel(ck_operands type) { return type == ck_operands_tiles ? ck_tile_rows : ck_gemm_rows; }

size_t ck_packed_rows_count(size_t rows, size_t depth, ck_operands type) {
  size_t panel = ck_packed_panel(type);
  return (rows + panel - 1) / panel * panel * ck_packed_count(type, depth);
}

size_t ck_packed_columns_count(size_t columns, size_t depth, ck_operands type) {
  return (columns + ck_gemm_panel - 1) / ck_gemm_panel * ck_gemm_panel * ck_packed_count(type, depth);
}

/* `type` is a constant, so that the compiler generates a loop for each type. */
static inline __attribute__((always_inline)) void pack_columns(
  const float *w, size_t columns, size_t depth, size_t column_stride, size_t depth_stride, const ck_operands type,
  float *packed) {
  packed_row_writer lines = {packed, ck_gemm_panel, type};
  for (size_t first = 0; first < columns; first += ck_gemm_panel) {
    for (size_t k = 0; k < depth; k++)
      for (size_t j = 0; j < ck_gemm_panel; j++)
        packed_row_writer_put(
          &lines, k, j, first + j < columns ? w[(first + j) * column_stride + k * depth_stride] : 0);
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
  default: pack_columns(w, columns, depth, column_stride, depth_stride, ck_operands_tiles, packed);
  }
}

size_t ck_integer_packed_count(const ck_integer_kernels *kernels, size_t lines, size_t panel, size_t depth) {
  size_t unit = kernels->unit;
  return (lines + panel - 1) / panel * panel * ((depth + unit - 1) / unit * unit / kernels->group + 1);
}
