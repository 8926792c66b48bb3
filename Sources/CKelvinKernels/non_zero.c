#include "ck_non_zero.h"
#include "typed.h"

#include <string.h>

/* Writes the indices of the elements of a row that are not zero, and returns their number. NaN is not zero; negative
 * zero is zero. One place after the last may be overwritten, if the row is not full. */
#define ROW(type, place)                                                         \
  static size_t row_##type##_##place(const type *x, size_t length, place *y) {   \
    size_t found = 0;                                                            \
    for (size_t i = 0; i < length; i++) {                                        \
      y[found] = (place)i;                                                       \
      found += x[i] != 0;                                                        \
    }                                                                            \
    return found;                                                                \
  }
#define ROWS(type) ROW(type, int32_t) ROW(type, int64_t)
ROWS(float)
ROWS(uint8_t)
ROWS(uint16_t)
ROWS(uint32_t)
ROWS(uint64_t)

static size_t row(const ck_non_zero_args *n, size_t first, size_t length, void *y) {
#define FIND(type)                                                     \
  n->wide ? row_##type##_int64_t((const type *)n->x + first, length, y) \
          : row_##type##_int32_t((const type *)n->x + first, length, y)
  if (n->type == ck_float32) return FIND(float);
  switch (typed_size(n->type)) {
  case 1: return FIND(uint8_t);
  case 2: return FIND(uint16_t);
  case 4: return FIND(uint32_t);
  default: return FIND(uint64_t);
  }
}

/* Writes one index for elements of an axis's places. */
static void fill(const ck_non_zero_args *n, size_t axis, size_t begin, size_t end, size_t place) {
  size_t first = axis * n->count;
  if (n->wide)
    for (size_t i = begin; i < end; i++) ((int64_t *)n->places)[first + i] = (int64_t)place;
  else
    for (size_t i = begin; i < end; i++) ((int32_t *)n->places)[first + i] = (int32_t)place;
}

void ck_non_zero_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_non_zero_args *n = args;
  if (begin == end) return;
  int64_t scalar_place;
  size_t last = n->rank ? n->rank - 1 : 0, length = n->rank ? n->sizes[last] : 1;
  char *places = n->rank ? (char *)n->places + last * n->count * (n->wide ? 8 : 4) : (char *)&scalar_place;
  size_t place[ck_max_rank] = {0}, found = 0;
  for (size_t first = 0; first < n->count; first += length) {
    size_t here = row(n, first, length, places + found * (n->wide ? 8 : 4));
    for (size_t axis = 0; axis < last; axis++) fill(n, axis, found, found + here, place[axis]);
    found += here;
    for (size_t axis = last; axis-- > 0 && ++place[axis] == n->sizes[axis];) place[axis] = 0;
  }
  for (size_t axis = 0; axis < n->rank; axis++) fill(n, axis, found, n->count, 0);
  *n->found = (int32_t)found;
}
