#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The number that a code stands for. */
typedef enum {
  /* scale * (code - zero) */
  ck_codes_scaled,
  /* scale * code + bias */
  ck_codes_biased,
  /* The entry of a table. All columns of a panel share it, and a code has at most 4 bits. */
  ck_codes_entries,
} ck_codes;

/* Columns [columns][depth] of codes. A panel of ck_gemm_panel columns has a record for each block of the depth, with
 * the words of the codes, [words][ck_gemm_panel], the first code in the lowest bits. A row of ck_gemm_panel floats
 * follows: the scale of each column, or the table. Another row has the columns' zero points or biases, if there are
 * any. */
typedef struct {
  const void *records;
  size_t columns, depth;
  /* The codes of a column in a record; divides the depth. */
  size_t block;
  /* Bits of a code: 2, 4 or 8. */
  size_t bits;
  ck_codes kind;
  /* Whether codes have zero points of their own; otherwise all have `zero`. Zero points are integers below 2^12. */
  bool has_zeros;
  float zero;
} ck_coded_columns;
