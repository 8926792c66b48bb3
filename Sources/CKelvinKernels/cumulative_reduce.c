#include "ck_cumulative_reduce.h"
#include "typed.h"

#define ALONG_LINE(type, wide_type)                                                  \
  {                                                                                  \
    wide_type total = c->product ? 1 : 0;                                            \
    for (size_t step = 0; step < c->length; step++) {                                \
      size_t place = at + (c->reversed ? c->length - 1 - step : step) * c->inner;    \
      wide_type x = (wide_type)((const type *)c->x)[place];                          \
      wide_type next = c->product ? total * x : total + x;                           \
      ((type *)c->y)[place] = (type)(c->exclusive ? total : next);                   \
      total = next;                                                                  \
    }                                                                                \
  }

void ck_cumulative_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_cumulative_reduce_args *c = args;
  for (size_t item = begin; item < end; item++) {
    size_t at = item / c->inner * c->length * c->inner + item % c->inner;
    switch (c->type) {
#define ALONG_CASE(type, number) \
  case number: ALONG_LINE(type, uint64_t) break;
      CK_INTEGER_TYPES(ALONG_CASE)
    default: ALONG_LINE(float, double)
    }
  }
}
