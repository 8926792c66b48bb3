/* Columns as codes (ck_coded_columns), unpacked to numbers. */
#pragma once
#include "ck_coded.h"
#include "gemm_tile.h"

/* The words of a column's codes in a record, and the floats of a record. */
CK_INLINE size_t coded_words(const ck_coded_columns *c) { return (c->block * c->bits + 31) / 32; }
CK_INLINE size_t coded_record(const ck_coded_columns *c) {
  return (coded_words(c) + (c->has_zeros || c->kind == ck_codes_biased ? 2 : 1)) * ck_gemm_panel;
}

/* A kind beside ck_codes: scaled codes of 4 bits with one zero point, whose differences to it are in a table. */
enum { coded_differences = ck_codes_entries + 1 };

/* The floats and codes of a vector of columns in one record. */
typedef struct {
  const float *words;
  vf scale, offset;
  const float *table;
} coded_block;

/* The block `index` of a panel, for the columns from `lane` on. */
CK_INLINE coded_block coded_block_at(const ck_coded_columns *c, size_t panel, size_t index, size_t lane) {
  size_t blocks = c->depth / c->block;
  const float *record = (const float *)c->records + (panel * blocks + index) * coded_record(c);
  const float *row = record + coded_words(c) * ck_gemm_panel;
  bool has_offsets = c->has_zeros || c->kind == ck_codes_biased;
  return (coded_block){
    record + lane, vload(row + lane), has_offsets ? vload(row + ck_gemm_panel + lane) : vset(c->zero), row};
}

/* The entries of a table of 16 at the lowest 4 bits of each lane. */
CK_INLINE vf coded_entries(const float *table, vi codes) {
#if CK_LANES == 16
  return (vf)_mm512_permutexvar_ps((__m512i)codes, (__m512)vload(table));
#elif CK_LANES == 8
  __m256 low = _mm256_permutevar8x32_ps((__m256)vload(table), (__m256i)codes);
  __m256 high = _mm256_permutevar8x32_ps((__m256)vload(table + 8), (__m256i)codes);
  return (vf)_mm256_blendv_ps(low, high, (__m256)(codes << 28));
#else
  vf entries;
#pragma clang loop unroll(full)
  for (size_t lane = 0; lane < CK_LANES; lane++) entries[lane] = table[codes[lane] & 15];
  return entries;
#endif
}

/* The code at bit `position` of each word, plus 2^(23 - position): its bits stay in place, in a float32's mantissa. */
CK_INLINE float coded_excess(size_t position) { return (float)(1u << (23 - position)); }
CK_INLINE vf coded_raised(vi words, size_t position, size_t bits) {
  int32_t mask = (int32_t)(((1u << bits) - 1) << position), exponent = (int32_t)(150 - position) << 23;
  return vfrombits((words & mask) | exponent);
}

/* The codes at a position below 16 as numbers: of scaled codes the differences to the zero point, which are exact. */
CK_INLINE vf coded_numbers(
  const coded_block *b, vi words, size_t position, const size_t bits, const int kind) {
  if (kind == ck_codes_entries || kind == coded_differences) return coded_entries(b->table, words >> (int32_t)position);
  vf raised = coded_raised(words, position, bits);
  if (kind == ck_codes_scaled) return raised - (b->offset + coded_excess(position));
  return vmuladd(raised - coded_excess(position), b->scale, b->offset);
}

/* The same for code `k` of a block, one by one. */
CK_INLINE vf coded_number(const coded_block *b, size_t k, const size_t bits, const int kind) {
  size_t place = k * bits;
  vi words = vbits(vload(b->words + place / 32 * ck_gemm_panel)) >> (int32_t)(place % 32);
  return coded_numbers(b, words, 0, bits, kind);
}

CK_INLINE bool coded_needs_scale(const int kind) { return kind == ck_codes_scaled || kind == coded_differences; }

CK_INLINE vf coded_finished(const coded_block *b, vf number, const int kind) {
  return coded_needs_scale(kind) ? number * b->scale : number;
}

/* Calls CALL(bits, kind) with the constants of coded columns. */
#define CODED_KINDS(c, CALL)                                                                                      \
  if ((c)->kind == ck_codes_entries) CALL(4, ck_codes_entries);                                                   \
  else if ((c)->kind == ck_codes_scaled) CODED_BITS(c, CALL, ck_codes_scaled)                                     \
  else CODED_BITS(c, CALL, ck_codes_biased)
#define CODED_BITS(c, CALL, kind)                                                                                 \
  switch ((c)->bits) {                                                                                            \
  case 2: CALL(2, kind); break;                                                                                   \
  case 4: CALL(4, kind); break;                                                                                   \
  default: CALL(8, kind); break;                                                                                  \
  }

/* Writes numbers `first` to `end` of a block as words of packed columns; `k` is the place of the first one. */
CK_INLINE void coded_unpack_one(
  const coded_block *b, size_t first, size_t end, size_t k, float *to, const size_t bits, const int kind) {
  for (size_t i = first; i < end; i++, k++) {
    vf number = coded_finished(b, coded_number(b, i, bits, kind), kind);
    float *words = to + k / numbers_per_unit * ck_gemm_panel;
    if (k % numbers_per_unit == 0) vstore(words, packed_join(number, vset(0)));
    else vstore(words, vfrombits(vbits(vload(words)) | vbits(packed_join(vset(0), number))));
  }
}

CK_INLINE void coded_unpack_block(
  const coded_block *b, size_t first, size_t end, size_t k, float *to, const size_t bits, const int kind) {
  const size_t codes = 32 / bits, half = 16 / bits;
  size_t whole = (first + codes - 1) / codes * codes;
  /* Pairs of a word start at an even place. */
  if (whole >= end || (k + whole - first) % numbers_per_unit) {
    coded_unpack_one(b, first, end, k, to, bits, kind);
    return;
  }
  coded_unpack_one(b, first, whole, k, to, bits, kind);
  k += whole - first;
  const float *words = b->words + whole / codes * ck_gemm_panel;
  for (; whole + codes <= end; whole += codes, words += ck_gemm_panel) {
    vi all = vbits(vload(words));
#pragma clang loop unroll(full)
    for (size_t i = 0; i < codes; i += numbers_per_unit, k += numbers_per_unit) {
      vi part = i < half ? all : all >> 16;
      size_t position = i % half * bits;
      vf number = coded_finished(b, coded_numbers(b, part, position, bits, kind), kind), next = number;
      if (numbers_per_unit == 2)
        next = coded_finished(b, coded_numbers(b, part, position + bits, bits, kind), kind);
      vstore(to + k / numbers_per_unit * ck_gemm_panel, packed_join(number, next));
    }
  }
  coded_unpack_one(b, whole, end, k, to, bits, kind);
}

CK_INLINE void coded_unpack_kind(
  const ck_coded_columns *c, size_t panel, size_t first, size_t end, float *to, const size_t bits,
  const int kind) {
  for (size_t k = first; k < end;) {
    size_t index = k / c->block, start = index * c->block;
    size_t stop = gemm_min(start + c->block, end);
    for (size_t lane = 0; lane < ck_gemm_panel; lane += CK_LANES) {
      coded_block b = coded_block_at(c, panel, index, lane);
      coded_unpack_block(&b, k - start, stop - start, k - first, to + lane, bits, kind);
    }
    k = stop;
  }
}

/* Writes the numbers `first` to `end` of the depth of a panel as packed columns. */
static void coded_unpack(const ck_coded_columns *c, size_t panel, size_t first, size_t end, float *to) {
#define CODED_UNPACK(bits, kind) coded_unpack_kind(c, panel, first, end, to, bits, kind)
  CODED_KINDS(c, CODED_UNPACK)
#undef CODED_UNPACK
}
