#include "ck_resize.h"

#include <string.h>

void ck_resize_nearest_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_resize_nearest_args *p = args;
  for (size_t item = begin; item < end; item++) {
    size_t row = item % p->out_height;
    size_t from = (item / p->out_height * p->height + (p->rows ? p->rows[row] : row)) * p->width;
    size_t to = item * p->out_width;
    if (!p->columns) {
      memcpy((char *)p->y + to * p->element, (const char *)p->x + from * p->element, p->width * p->element);
      continue;
    }
    switch (p->element) {
#define PICK(size, type)                                                                                              \
  case size:                                                                                                          \
    for (size_t j = 0; j < p->out_width; j++) ((type *)p->y)[to + j] = ((const type *)p->x)[from + p->columns[j]];    \
    break;
      PICK(1, uint8_t)
      PICK(2, uint16_t)
      PICK(4, uint32_t)
      PICK(8, uint64_t)
    default: break;
    }
  }
}
