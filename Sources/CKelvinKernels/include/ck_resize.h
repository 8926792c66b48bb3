#pragma once
#include <stddef.h>
#include <stdint.h>

/* y[o, i, j] = x[o, row[i], column[j]]; null selects all rows or columns in order. Items are (o, i). */
typedef struct {
  const void *x;
  void *y;
  /* Bytes of an element: 1, 2, 4 or 8. */
  size_t element;
  size_t height, width, out_height, out_width;
  const size_t *rows;
  const size_t *columns;
} ck_resize_nearest_args;
void ck_resize_nearest_run(const void *args, size_t begin, size_t end, void *scratch);
