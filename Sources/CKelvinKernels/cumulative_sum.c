#include "ck_cumulative_sum.h"
#include "typed.h"

#define ALONG_LINE(type, sum_type)                                                              \
  {                                                                                             \
    sum_type sum = 0;                                                                           \
    for (size_t step = 0; step < c->length; step++) {                                           \
      size_t place = at + (c->reversed ? c->length - 1 - step : step) * c->inner;               \
      sum_type next = sum + (sum_type)((const type *)c->x)[place];                              \
      ((type *)c->y)[place] = (type)(c->exclusive ? sum : next);                                \
      sum = next;                                                                               \
    }                                                                                           \
  }

void ck_cumulative_sum_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_cumulative_sum_args *c = args;
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
