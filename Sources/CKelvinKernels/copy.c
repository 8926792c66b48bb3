#include "ck_kernels.h"

#include <stdbool.h>
#include <string.h>

/* An element may consist of smaller ones, so its address has any alignment. */
typedef uint8_t copy_1;
typedef uint16_t copy_2 __attribute__((aligned(1)));
typedef uint32_t copy_4 __attribute__((aligned(1)));
typedef uint64_t copy_8 __attribute__((aligned(1)));

#define COPY_INNER(bytes)                                                                    \
  static void copy_inner_##bytes(                                                            \
    const void *source, ptrdiff_t source_stride, void *target, ptrdiff_t target_stride, size_t count) { \
    const copy_##bytes *from = source;                                                       \
    copy_##bytes *to = target;                                                               \
    if (source_stride == 0 && target_stride == 1)                                            \
      for (size_t i = 0; i < count; i++) to[i] = *from;                                      \
    else if (source_stride == 2 && target_stride == 1)                                       \
      for (size_t i = 0; i < count; i++) to[i] = from[2 * i];                                \
    else if (source_stride == 1 && target_stride == 2)                                       \
      for (size_t i = 0; i < count; i++) to[2 * i] = from[i];                                \
    else                                                                                     \
      for (size_t i = 0; i < count; i++, from += source_stride, to += target_stride) *to = *from; \
  }

COPY_INNER(1)
COPY_INNER(2)
COPY_INNER(4)
COPY_INNER(8)

/* Copies rows of a matrix whose columns are contiguous in the source, and its rows in the target. */
#define COPY_TURNED(bytes)                                                                                           \
  static void copy_turned_##bytes(                                                                                     \
    const copy_##bytes *from, ptrdiff_t from_column, copy_##bytes *to, ptrdiff_t to_row, size_t rows,                \
    size_t columns) {                                                                                                \
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

COPY_TURNED(1)
COPY_TURNED(2)
COPY_TURNED(8)

typedef uint32_t copy_quad __attribute__((ext_vector_type(4)));

static inline void copy_turn_quads(const copy_4 *from, ptrdiff_t from_column, copy_4 *to, ptrdiff_t to_row) {
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

static void copy_turned_4(
  const copy_4 *from, ptrdiff_t from_column, copy_4 *to, ptrdiff_t to_row, size_t rows, size_t columns) {
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
  case 1: copy_turned_1((const copy_1 *)from, column, (copy_1 *)to, row, rows, columns); break;
  case 2: copy_turned_2((const copy_2 *)from, column, (copy_2 *)to, row, rows, columns); break;
  case 4: copy_turned_4((const copy_4 *)from, column, (copy_4 *)to, row, rows, columns); break;
  default: copy_turned_8((const copy_8 *)from, column, (copy_8 *)to, row, rows, columns); break;
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
  case 1: copy_inner_1(from, source_stride, to, target_stride, count); break;
  case 2: copy_inner_2(from, source_stride, to, target_stride, count); break;
  case 4: copy_inner_4(from, source_stride, to, target_stride, count); break;
  default: copy_inner_8(from, source_stride, to, target_stride, count); break;
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

/* Moves on by a number of indices that are left along the last of the first `axes` axes. */
static inline void copy_advance(const ck_copy_args *c, copy_place *place, size_t axes, size_t count) {
  for (size_t axis = axes; axis-- > 0; count = 1) {
    place->index[axis] += count;
    place->source += (ptrdiff_t)count * c->source_strides[axis];
    place->target += (ptrdiff_t)count * c->target_strides[axis];
    if (place->index[axis] < c->sizes[axis]) return;
    place->index[axis] = 0;
    place->source -= (ptrdiff_t)c->sizes[axis] * c->source_strides[axis];
    place->target -= (ptrdiff_t)c->sizes[axis] * c->target_strides[axis];
  }
}

/* Axes before the last along which the source repeats, the first axis first; the items of one repetition, which the
 * target holds side by side. */
typedef struct {
  size_t count;
  size_t axes[ck_max_rank], items[ck_max_rank];
} copy_repeats;

static copy_repeats copy_find_repeats(const ck_copy_args *c) {
  copy_repeats repeats = {0};
  size_t last = c->rank - 1, items[ck_max_rank], first = last;
  ptrdiff_t inner = (ptrdiff_t)c->sizes[last];
  if (c->target_strides[last] != 1) return repeats;
  for (size_t count = 1; first > 0 && c->target_strides[first - 1] == inner; first--) {
    items[first - 1] = count;
    count *= c->sizes[first - 1];
    inner *= (ptrdiff_t)c->sizes[first - 1];
  }
  for (size_t axis = first; axis < last; axis++) {
    bool is_long = items[axis] == 1 && c->sizes[last] * c->element > copy_short;
    if (c->source_strides[axis] != 0 || is_long) continue;
    repeats.axes[repeats.count] = axis;
    repeats.items[repeats.count++] = items[axis];
  }
  return repeats;
}

/* The most bytes that are repeated at once, so that they are read from the nearest cache. */
enum { copy_near = 1 << 14 };

/* Copies what this place repeats from the target, if `done` items before the place are written and `left` are not.
 * Moves on, and returns the number of items; 0 if nothing is repeated here. */
static size_t copy_again(
  const ck_copy_args *c, const copy_repeats *repeats, copy_place *place, size_t done, size_t left) {
  for (size_t i = 0; i < repeats->count; i++) {
    size_t axis = repeats->axes[i], items = repeats->items[i], index = place->index[axis], inner = axis + 1;
    if (index == 0 || items > done || items > left) continue;
    while (inner + 1 < c->rank && place->index[inner] == 0) inner++;
    if (inner + 1 < c->rank) continue;
    size_t bytes = (size_t)c->target_strides[axis] * c->element, count = 1;
    while (
      count * 2 * bytes <= copy_near && count * 2 <= index && count * 2 <= c->sizes[axis] - index &&
      count * 2 * items <= done && count * 2 * items <= left)
      count *= 2;
    char *to = (char *)c->target + place->target * (ptrdiff_t)c->element;
    memcpy(to, to - count * bytes, count * bytes);
    copy_advance(c, place, axis + 1, count);
    return count * items;
  }
  return 0;
}

void ck_copy_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_copy_args *c = args;
  size_t last = c->rank - 1;
  bool is_turned = last > 0 && c->source_strides[last] != 0 && c->source_strides[last] != 1 &&
    c->source_strides[last - 1] == 1 && c->target_strides[last] == 1;
  copy_repeats repeats = copy_find_repeats(c);
  copy_place place = copy_find(c, begin);
  ptrdiff_t element = (ptrdiff_t)c->element;
  for (size_t item = begin, taken; item < end; item += taken, copy_advance(c, &place, last, taken)) {
    while (repeats.count > 0 && (taken = copy_again(c, &repeats, &place, item - begin, end - item)) > 0)
      if ((item += taken) == end) return;
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
