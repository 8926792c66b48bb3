#include "ck_coded.h"
#include "fault.h"

#include <string.h>

static size_t words_of(const ck_coded_columns *c) { return (c->block * c->bits + 31) / 32; }
static bool has_offsets(const ck_coded_columns *c) { return c->has_zeros || c->kind == ck_codes_biased; }
/* The 32-bit words of a record. */
static size_t record_of(const ck_coded_columns *c) {
  return (words_of(c) + (has_offsets(c) ? 2 : 1)) * ck_gemm_panel;
}

size_t ck_coded_byte_count(const ck_coded_columns *c) {
  size_t panels = (c->columns + ck_gemm_panel - 1) / ck_gemm_panel;
  return panels * (c->depth / c->block) * record_of(c) * sizeof(uint32_t);
}

/* The word of up to 32 / bits codes. */
static uint32_t word_of(const uint8_t *codes, size_t count, size_t bits) {
  if (bits == 4 && count == 8) {
    uint64_t pairs;
    memcpy(&pairs, codes, sizeof pairs);
    pairs = (pairs | pairs >> 4) & 0x00FF00FF00FF00FF;
    pairs = (pairs | pairs >> 8) & 0x0000FFFF0000FFFF;
    return (uint32_t)(pairs | pairs >> 16);
  }
  uint32_t word = 0;
  for (size_t i = 0; i < count; i++) word |= (uint32_t)codes[i] << (i * bits);
  return word;
}

void ck_pack_coded_panel(
  const ck_coded_columns *c, size_t panel, const uint8_t *codes, const ck_code_parameters *parameters, void *packed) {
  size_t first = panel * ck_gemm_panel, blocks = c->depth / c->block, words = words_of(c), per_word = 32 / c->bits;
  size_t count = c->columns - first < ck_gemm_panel ? c->columns - first : ck_gemm_panel;
  for (size_t block = 0; block < blocks; block++) {
    uint32_t *record = (uint32_t *)packed + (panel * blocks + block) * record_of(c);
    for (size_t w = 0; w < words; w++) {
      size_t left = c->block - w * per_word;
      for (size_t j = 0; j < ck_gemm_panel; j++)
        record[w * ck_gemm_panel + j] = j < count
          ? word_of(codes + j * c->depth + block * c->block + w * per_word, left < per_word ? left : per_word, c->bits)
          : 0;
    }
    float row[2 * ck_gemm_panel] = {0};
    for (size_t j = 0; j < count; j++) {
      size_t at = (first + j) / parameters->run * blocks + block;
      if (c->kind != ck_codes_entries) row[j] = parameters->first[at];
      if (parameters->second) row[ck_gemm_panel + j] = parameters->second[at];
    }
    if (c->kind == ck_codes_entries) {
      size_t length = parameters->length < ck_gemm_panel ? parameters->length : ck_gemm_panel;
      const float *table = parameters->first + (first / parameters->run * blocks + block) * parameters->length;
      memcpy(row, table, length * sizeof *row);
    }
    memcpy(record + words * ck_gemm_panel, row, (has_offsets(c) ? 2 : 1) * ck_gemm_panel * sizeof *row);
  }
}

static void unpack_column(const ck_coded_columns *c, size_t column, float *y) {
  size_t blocks = c->depth / c->block, words = words_of(c), per_word = 32 / c->bits, lane = column % ck_gemm_panel;
  uint32_t mask = (1u << c->bits) - 1;
  const uint32_t *record = (const uint32_t *)c->records + column / ck_gemm_panel * blocks * record_of(c);
  for (size_t block = 0; block < blocks; block++, record += record_of(c), y += c->block) {
    const float *row = (const float *)(record + words * ck_gemm_panel);
    float scale = row[lane], zero = c->has_zeros ? row[ck_gemm_panel + lane] : c->zero;
    for (size_t k = 0; k < c->block; k++) {
      uint32_t code = record[k / per_word * ck_gemm_panel + lane] >> (k % per_word * c->bits) & mask;
      y[k] = c->kind == ck_codes_entries ? row[code] : scale * ((float)code - zero);
    }
  }
}

void ck_gather_coded_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_gather_coded_args *g = args;
  for (size_t item = begin; item < end; item++) {
    size_t index = index_within(g->fault, g->node, g->index_type, g->indices, item, g->x.columns);
    if (index == g->x.columns) return;
    unpack_column(&g->x, index, g->y + item * g->x.depth);
  }
}
