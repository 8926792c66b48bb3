#pragma once
#include "ck_fault.h"
#include "ck_kernels.h"

/* Columns of a product as codes of few bits, which kernels turn into numbers as they read them. */

enum { ck_coded_rows = 4 };

/* y = x * b for up to ck_coded_rows rows of float32: x is [rows][depth], y is [rows][columns]. Biases are by column.
 * Items are panels. */
typedef struct {
  const float *x;
  ck_coded_columns b;
  float *y;
  size_t rows;
  ck_epilogue epilogue;
} ck_coded_args;

/* The parameters of the numbers that codes stand for. */
typedef struct {
  /* Scales or tables: `length` numbers for each run of `run` columns and each block of the depth,
   * [runs][blocks][length]. */
  const float *first;
  /* Zero points or biases, [runs][blocks]; otherwise null. */
  const float *second;
  size_t run, length;
} ck_code_parameters;

/* The bytes of coded columns. */
size_t ck_coded_byte_count(const ck_coded_columns *c);

/* Writes the records of a panel. `codes` are its columns, ck_gemm_panel or the rest, [columns][depth] bytes. */
void ck_pack_coded_panel(
  const ck_coded_columns *c, size_t panel, const uint8_t *codes, const ck_code_parameters *parameters, void *packed);

/* y[i] = column index[i] of coded columns whose numbers are not biased. Items are i. */
typedef struct {
  ck_coded_columns x;
  const void *indices;
  float *y;
  ck_fault *fault;
  uint32_t node;
  ck_scalar index_type;
} ck_gather_coded_args;
void ck_gather_coded_run(const void *args, size_t begin, size_t end, void *scratch);
