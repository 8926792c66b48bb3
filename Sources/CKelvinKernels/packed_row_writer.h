/* Writes rows of numbers along the depth, one after another, as words. */
#pragma once
#include "bfloat.h"
#include "ck_kernels.h"
#include "half_scale.h"

/* The layout is [words][width], with a row for each number of the depth. Numbers of float16 have been scaled. */
typedef struct {
  float *to;
  size_t width;
  ck_operands type;
} packed_row_writer;

static inline void packed_row_writer_put(const packed_row_writer *l, size_t line, size_t place, float number) {
  if (l->type == ck_operands_float32) {
    l->to[line * l->width + place] = number;
    return;
  }
  uint16_t bits = l->type == ck_operands_float16 ? half_bits_of(number) : bfloat_bits(number);
  memcpy((char *)(l->to + line / 2 * l->width + place) + line % 2 * sizeof bits, &bits, sizeof bits);
}

/* Advances after `lines` rows, and pads the last words. */
static inline void packed_row_writer_end(packed_row_writer *l, size_t lines) {
  size_t words = ck_packed_count(l->type, lines);
  if (l->type != ck_operands_float32)
    for (size_t line = lines; line < 2 * words; line++)
      for (size_t place = 0; place < l->width; place++) packed_row_writer_put(l, line, place, 0);
  l->to += words * l->width;
}
