#include "ck_non_zero.h"
#include "typed.h"

#include <string.h>

/* NaN is not zero; negative zero is zero. */
static bool is_set(ck_scalar type, const void *x, size_t i) {
  return type == ck_float32 ? ((const float *)x)[i] != 0 : typed_integer(type, x, i) != 0;
}

static void store_place(const ck_non_zero_args *n, size_t axis, size_t column, size_t place) {
  size_t i = axis * n->count + column;
  if (n->wide) ((int64_t *)n->places)[i] = (int64_t)place;
  else ((int32_t *)n->places)[i] = (int32_t)place;
}

void ck_non_zero_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_non_zero_args *n = args;
  if (begin == end) return;
  memset(n->places, 0, n->rank * n->count * (n->wide ? sizeof(int64_t) : sizeof(int32_t)));
  size_t place[ck_max_rank] = {0}, found = 0;
  for (size_t i = 0; i < n->count; i++) {
    if (is_set(n->type, n->x, i)) {
      for (size_t axis = 0; axis < n->rank; axis++) store_place(n, axis, found, place[axis]);
      found++;
    }
    for (size_t axis = n->rank; axis-- > 0 && ++place[axis] == n->sizes[axis];) place[axis] = 0;
  }
  *n->found = (int32_t)found;
}
