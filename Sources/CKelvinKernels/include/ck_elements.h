#pragma once
#include "../Generated/ck_functions.h"
#include "ck_kernels.h"

/* Arguments of kernels on integers, booleans (bytes of 0 or 1) and elements of any type. Integers wrap around. */

/* z = x op y, numbered as ck_binary. Strides of x and y along the last size
 * are 0 or 1, z is dense. Items are strips. */
typedef struct {
  const void *x;
  const void *y;
  void *z;
  /* Any type but uint64. */
  ck_scalar type;
  size_t function;
  size_t rank;
  size_t sizes[ck_max_rank];
  size_t x_strides[ck_max_rank];
  size_t y_strides[ck_max_rank];
} ck_integer_binary_args;
void ck_integer_binary_run(const void *args, size_t begin, size_t end, void *scratch);

/* y = f(x), numbered as ck_unary. Functions that are not defined on integers return x. Items are strips. */
typedef struct {
  const void *x;
  void *y;
  ck_scalar type;
  size_t function;
  size_t count;
  /* The bounds of ck_unary_clip. */
  int64_t lower, upper;
  /* The parameters of ck_unary_affine, which truncates and saturates. */
  double a, b;
} ck_int_unary_args;
void ck_int_unary_run(const void *args, size_t begin, size_t end, void *scratch);

/* Reductions numbered as ck_reduce, except for l2 and the logarithms; means are truncated. [outer, length, inner] to
 * [outer, inner]; items are outer indices. */
typedef struct {
  const void *x;
  void *y;
  ck_scalar type;
  size_t function;
  size_t outer, length, inner;
} ck_int_reduce_args;
void ck_int_reduce_run(const void *args, size_t begin, size_t end, void *scratch);

/* As ck_arg_reduce_args, for integers; items are outer indices. */
typedef struct {
  const void *x;
  void *y;
  ck_scalar type;
  size_t element;
  size_t outer, length, inner;
  bool minimum, takes_last;
} ck_int_arg_reduce_args;
void ck_int_arg_reduce_run(const void *args, size_t begin, size_t end, void *scratch);

/* z = x op y in bytes of 0 or 1; strides and items as ck_integer_binary_args. */
typedef struct {
  const void *x;
  const void *y;
  uint8_t *z;
  ck_scalar type;
  ck_compare function;
  size_t rank;
  size_t sizes[ck_max_rank];
  size_t x_strides[ck_max_rank];
  size_t y_strides[ck_max_rank];
} ck_compare_args;

/* z = x where the condition is not 0, else y; strides and items as ck_integer_binary_args. */
typedef struct {
  const uint8_t *condition;
  const void *x;
  const void *y;
  void *z;
  /* Bytes of an element: 1, 2, 4 or 8. */
  size_t element;
  size_t rank;
  size_t sizes[ck_max_rank];
  size_t condition_strides[ck_max_rank];
  size_t x_strides[ck_max_rank];
  size_t y_strides[ck_max_rank];
} ck_select_args;
