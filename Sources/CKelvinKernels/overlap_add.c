#include "ck_overlap_add.h"
#include "typed.h"

#include <string.h>

/* The blocks `first` to `end` along an axis whose element at `offset` from their begin is inside the image. */
typedef struct {
  size_t first, end;
  ptrdiff_t offset;
} overlap_range;

static overlap_range overlap_inside(const ck_overlap_add_args *a, size_t axis, size_t element) {
  overlap_range range = {.offset = (ptrdiff_t)(element * a->dilations[axis]) - (ptrdiff_t)a->before[axis]};
  ptrdiff_t step = (ptrdiff_t)a->strides[axis], room = (ptrdiff_t)a->image[axis] - range.offset;
  if (range.offset < 0) range.first = (size_t)((-range.offset + step - 1) / step);
  if (room > 0) range.end = (size_t)((room + step - 1) / step);
  if (range.end > a->counts[axis]) range.end = a->counts[axis];
  return range;
}

/* Integers wrap, so the unsigned type of their size gives the same bits. */
#define OVERLAP_ADD(type)                                                                                           \
  static void overlap_add_##type(                                                                                   \
    const type *restrict x, type *restrict y, size_t step, size_t first, size_t end) {                              \
    if (step == 1)                                                                                                  \
      for (size_t i = first; i < end; i++) y[i] += x[i];                                                            \
    else                                                                                                            \
      for (size_t i = first; i < end; i++) y[i * step] += x[i];                                                     \
  }

OVERLAP_ADD(float)
OVERLAP_ADD(uint8_t)
OVERLAP_ADD(uint16_t)
OVERLAP_ADD(uint32_t)
OVERLAP_ADD(uint64_t)

/* Adds the blocks of a row; `x` and `y` are the bytes of the first block and of its position. */
static void overlap_row(const ck_overlap_add_args *a, const char *x, char *y, overlap_range range) {
  size_t step = a->strides[2];
  const void *from = x;
  void *to = y;
  if (a->type == ck_float32) {
    overlap_add_float(from, to, step, range.first, range.end);
    return;
  }
  switch (typed_size(a->type)) {
  case 1: overlap_add_uint8_t(from, to, step, range.first, range.end); break;
  case 2: overlap_add_uint16_t(from, to, step, range.first, range.end); break;
  case 4: overlap_add_uint32_t(from, to, step, range.first, range.end); break;
  default: overlap_add_uint64_t(from, to, step, range.first, range.end); break;
  }
}

/* Adds one element of every block; `x` has the element of the first one. */
static void overlap_element(
  const ck_overlap_add_args *a, const char *x, char *y, overlap_range front, overlap_range middle, overlap_range last) {
  ptrdiff_t size = (ptrdiff_t)typed_size(a->type);
  for (size_t i = front.first; i < front.end; i++)
    for (size_t j = middle.first; j < middle.end; j++) {
      ptrdiff_t plane = (ptrdiff_t)(i * a->strides[0]) + front.offset;
      ptrdiff_t row = plane * (ptrdiff_t)a->image[1] + (ptrdiff_t)(j * a->strides[1]) + middle.offset;
      ptrdiff_t from = (ptrdiff_t)((i * a->counts[1] + j) * a->counts[2]);
      overlap_row(a, x + from * size, y + (row * (ptrdiff_t)a->image[2] + last.offset) * size, last);
    }
}

void ck_overlap_add_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_overlap_add_args *a = args;
  size_t size = typed_size(a->type), elements = a->image[0] * a->image[1] * a->image[2];
  size_t blocks = a->counts[0] * a->counts[1] * a->counts[2];
  size_t plane = begin * a->block[0] * a->block[1] * a->block[2];
  const char *x = (const char *)a->x + plane * blocks * size;
  for (size_t item = begin; item < end; item++) {
    char *y = (char *)a->y + item * elements * size;
    memset(y, 0, elements * size);
    for (size_t i = 0; i < a->block[0]; i++)
      for (size_t j = 0; j < a->block[1]; j++)
        for (size_t k = 0; k < a->block[2]; k++, x += blocks * size)
          overlap_element(a, x, y, overlap_inside(a, 0, i), overlap_inside(a, 1, j), overlap_inside(a, 2, k));
  }
}
