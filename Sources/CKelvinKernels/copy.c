#include "ck_kernels.h"

#include <stdbool.h>
#include <string.h>

#define COPY_INNER(type)                                                                     \
  static void copy_inner_##type(                                                             \
    const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride, size_t count) { \
    const type *from = source;                                                               \
    type *to = target;                                                                       \
    if (source_stride == 0 && target_stride == 1)                                            \
      for (size_t i = 0; i < count; i++) to[i] = *from;                                      \
    else if (source_stride == 2 && target_stride == 1)                                       \
      for (size_t i = 0; i < count; i++) to[i] = from[2 * i];                                \
    else if (source_stride == 1 && target_stride == 2)                                       \
      for (size_t i = 0; i < count; i++) to[2 * i] = from[i];                                \
    else                                                                                     \
      for (size_t i = 0; i < count; i++, from += source_stride, to += target_stride) *to = *from; \
  }

COPY_INNER(uint8_t)
COPY_INNER(uint16_t)
COPY_INNER(uint32_t)
COPY_INNER(uint64_t)

/* Copies rows of a matrix whose columns are contiguous in the source, and its rows in the target. */
#define COPY_TURNED(type)                                                                                            \
  static void copy_turned_##type(                                                                                    \
    const type *from, ptrdiff_t from_column, type *to, ptrdiff_t to_row, size_t rows, size_t columns) {              \
    for (size_t row = 0; row < rows; row += copy_tile)                                                               \
      for (size_t column = 0; column < columns; column += copy_tile) {                                               \
        size_t row_end = row + copy_tile < rows ? row + copy_tile : rows;                                            \
        size_t column_end = column + copy_tile < columns ? column + copy_tile : columns;                             \
        for (size_t r = row; r < row_end; r++)                                                                       \
          for (size_t c = column; c < column_end; c++)                                                               \
            to[(ptrdiff_t)r * to_row + (ptrdiff_t)c] = from[(ptrdiff_t)c * from_column + (ptrdiff_t)r];              \
      }                                                                                                              \
  }

enum { copy_tile = 16 };

COPY_TURNED(uint8_t)
COPY_TURNED(uint16_t)
COPY_TURNED(uint64_t)

typedef uint32_t copy_quad __attribute__((ext_vector_type(4)));

static inline void copy_turn_quads(const uint32_t *from, ptrdiff_t from_column, uint32_t *to, ptrdiff_t to_row) {
  copy_quad c[4], pairs[4];
  for (size_t i = 0; i < 4; i++) memcpy(c + i, from + (ptrdiff_t)i * from_column, sizeof *c);
  pairs[0] = __builtin_shufflevector(c[0], c[1], 0, 4, 1, 5);
  pairs[1] = __builtin_shufflevector(c[2], c[3], 0, 4, 1, 5);
  pairs[2] = __builtin_shufflevector(c[0], c[1], 2, 6, 3, 7);
  pairs[3] = __builtin_shufflevector(c[2], c[3], 2, 6, 3, 7);
  for (size_t i = 0; i < 4; i += 2) {
    copy_quad low = __builtin_shufflevector(pairs[i], pairs[i + 1], 0, 1, 4, 5);
    copy_quad high = __builtin_shufflevector(pairs[i], pairs[i + 1], 2, 3, 6, 7);
    memcpy(to + (ptrdiff_t)i * to_row, &low, sizeof low);
    memcpy(to + (ptrdiff_t)(i + 1) * to_row, &high, sizeof high);
  }
}

static void copy_turned_uint32_t(
  const uint32_t *from, ptrdiff_t from_column, uint32_t *to, ptrdiff_t to_row, size_t rows, size_t columns) {
  size_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (size_t row = 0; row < whole_rows; row += copy_tile)
    for (size_t column = 0; column < whole_columns; column += copy_tile)
      for (size_t r = row; r < row + copy_tile && r < whole_rows; r += 4)
        for (size_t c = column; c < column + copy_tile && c < whole_columns; c += 4)
          copy_turn_quads(
            from + (ptrdiff_t)c * from_column + (ptrdiff_t)r, from_column, to + (ptrdiff_t)r * to_row + (ptrdiff_t)c,
            to_row);
  for (size_t c = whole_columns; c < columns; c++)
    for (size_t r = 0; r < whole_rows; r++)
      to[(ptrdiff_t)r * to_row + (ptrdiff_t)c] = from[(ptrdiff_t)c * from_column + (ptrdiff_t)r];
  for (size_t r = whole_rows; r < rows; r++)
    for (size_t c = 0; c < columns; c++)
      to[(ptrdiff_t)r * to_row + (ptrdiff_t)c] = from[(ptrdiff_t)c * from_column + (ptrdiff_t)r];
}

static void copy_turned(const ck_copy_args *c, const char *from, char *to, size_t rows) {
  size_t last = c->rank - 1, columns = c->sizes[last];
  ptrdiff_t column = c->source_strides[last], row = c->target_strides[last - 1];
  switch (c->element) {
  case 1: copy_turned_uint8_t((const uint8_t *)from, column, (uint8_t *)to, row, rows, columns); break;
  case 2: copy_turned_uint16_t((const uint16_t *)from, column, (uint16_t *)to, row, rows, columns); break;
  case 4: copy_turned_uint32_t((const uint32_t *)from, column, (uint32_t *)to, row, rows, columns); break;
  default: copy_turned_uint64_t((const uint64_t *)from, column, (uint64_t *)to, row, rows, columns); break;
  }
}

enum { copy_vector = 16, copy_short = 256 };

/* Copies a short row, at least a vector long, without a call. The last vector may overlap the one before. */
static inline void copy_row(const char *from, char *to, size_t bytes) {
  for (size_t i = 0; i + copy_vector <= bytes; i += copy_vector) memcpy(to + i, from + i, copy_vector);
  memcpy(to + bytes - copy_vector, from + bytes - copy_vector, copy_vector);
}

static void copy_inner(const ck_copy_args *c, const char *from, char *to) {
  size_t last = c->rank - 1, count = c->sizes[last];
  ptrdiff_t source_stride = c->source_strides[last], target_stride = c->target_strides[last];
  if (source_stride == 1 && target_stride == 1) {
    size_t bytes = count * c->element;
    if (bytes >= copy_vector && bytes <= copy_short) copy_row(from, to, bytes);
    else memcpy(to, from, bytes);
    return;
  }
  switch (c->element) {
  case 1: copy_inner_uint8_t(from, source_stride, to, target_stride, count); break;
  case 2: copy_inner_uint16_t(from, source_stride, to, target_stride, count); break;
  case 4: copy_inner_uint32_t(from, source_stride, to, target_stride, count); break;
  default: copy_inner_uint64_t(from, source_stride, to, target_stride, count); break;
  }
}

/* The position of an item of a copy, and the offsets of its elements. */
typedef struct {
  size_t index[ck_max_rank];
  ptrdiff_t source, target;
} copy_place;

static copy_place copy_find(const ck_copy_args *c, size_t item) {
  copy_place place = {0};
  for (size_t axis = c->rank - 1; axis-- > 0; item /= c->sizes[axis]) {
    place.index[axis] = item % c->sizes[axis];
    place.source += (ptrdiff_t)place.index[axis] * c->source_strides[axis];
    place.target += (ptrdiff_t)place.index[axis] * c->target_strides[axis];
  }
  return place;
}

/* Moves on by a number of items that are left along the axis before the last. */
static inline void copy_advance(const ck_copy_args *c, copy_place *place, size_t count) {
  for (size_t axis = c->rank - 1; axis-- > 0; count = 1) {
    place->index[axis] += count;
    place->source += (ptrdiff_t)count * c->source_strides[axis];
    place->target += (ptrdiff_t)count * c->target_strides[axis];
    if (place->index[axis] < c->sizes[axis]) return;
    place->index[axis] = 0;
    place->source -= (ptrdiff_t)c->sizes[axis] * c->source_strides[axis];
    place->target -= (ptrdiff_t)c->sizes[axis] * c->target_strides[axis];
  }
}

void ck_copy_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_copy_args *c = args;
  size_t last = c->rank - 1;
  bool is_turned = last > 0 && c->source_strides[last] != 0 && c->source_strides[last] != 1 &&
    c->source_strides[last - 1] == 1 && c->target_strides[last] == 1;
  copy_place place = copy_find(c, begin);
  ptrdiff_t element = (ptrdiff_t)c->element;
  for (size_t item = begin, taken; item < end; item += taken, copy_advance(c, &place, taken)) {
    const char *from = (const char *)c->source + place.source * element;
    char *to = (char *)c->target + place.target * element;
    taken = 1;
    if (!is_turned) {
      copy_inner(c, from, to);
      continue;
    }
    taken = c->sizes[last - 1] - place.index[last - 1];
    if (taken > end - item) taken = end - item;
    copy_turned(c, from, to, taken);
  }
}

void ck_fill_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_fill_args *f = args;
  size_t first = begin * ck_map_chunk, last = end * ck_map_chunk < f->count ? end * ck_map_chunk : f->count;
  ck_copy_args copy = {
    .source = &f->value,
    .target = (char *)f->target + first * f->element,
    .element = f->element,
    .rank = 1,
    .sizes = {last - first},
    .target_strides = {1},
  };
  ck_copy_run(&copy, 0, 1, 0);
}
