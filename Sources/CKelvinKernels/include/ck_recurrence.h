#pragma once
#include "ck_kernels.h"

enum { ck_recurrence_chunk = 64 };

typedef enum { ck_recurrence_lstm, ck_recurrence_gru, ck_recurrence_simple } ck_recurrence_cell;

typedef struct {
  ck_map map;
  float a, b;
} ck_recurrence_function;

/* One step of a recurrent layer, given its products. Items are (row, chunk of ck_recurrence_chunk hidden units). */
typedef struct {
  ck_recurrence_cell cell;
  size_t steps, step, rows, hidden;
  bool reversed, coupled, resets_after;
  float gate_limit, cell_limit;
  ck_recurrence_function functions[3];
  /* [steps][rows][gates][hidden] */
  const float *x;
  /* The products of the previous state, [rows][gates][hidden]; without the candidate's if a GRU resets before its
   * product. */
  const float *products;
  /* A GRU's `R (r * h)`, [rows][hidden]. */
  const float *candidates;
  const float *candidate_bias;
  /* [3][hidden], or null. */
  const float *peepholes;
  /* The number of steps of each row, or null if all rows have every step. */
  const int32_t *lengths;
  /* [rows][hidden]; the states before and after may be the same memory. */
  const float *hidden_before, *cell_before;
  float *hidden_after, *cell_after;
  /* [steps][rows][hidden] */
  float *y;
  /* A GRU's `r * h`, [rows][hidden]. */
  float *reset_hidden;
} ck_recurrence_args;
void ck_recurrence_run(const void *args, size_t begin, size_t end, void *scratch);
/* Writes `reset_hidden` only. */
void ck_recurrence_reset_run(const void *args, size_t begin, size_t end, void *scratch);
