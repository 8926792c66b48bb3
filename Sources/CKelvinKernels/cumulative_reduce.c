#include "ck_cumulative_reduce.h"
#include "running.h"

/* Integers wrap, so the unsigned type of their size gives the same bits. A product of 16-bit integers would be a signed int,
 * which must not overflow. */
RUNNING_TOTALS(ck_cumulative_reduce_args, ck_cumulative_reduce_chunk, uint8_t, uint8_t)
RUNNING_TOTALS(ck_cumulative_reduce_args, ck_cumulative_reduce_chunk, uint16_t, uint32_t)
RUNNING_TOTALS(ck_cumulative_reduce_args, ck_cumulative_reduce_chunk, uint32_t, uint32_t)
RUNNING_TOTALS(ck_cumulative_reduce_args, ck_cumulative_reduce_chunk, uint64_t, uint64_t)

void ck_cumulative_reduce_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_cumulative_reduce_args *c = args;
  switch (c->type) {
  case ck_int8:
  case ck_uint8: running_uint8_t(c, begin, end); break;
  case ck_int16:
  case ck_uint16: running_uint16_t(c, begin, end); break;
  case ck_int32:
  case ck_uint32: running_uint32_t(c, begin, end); break;
  default: running_uint64_t(c, begin, end); break;
  }
}
