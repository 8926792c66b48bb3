#include "ck_random_key.h"

void ck_random_key_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)begin, (void)end, (void)scratch;
  const ck_random_key_args *k = args;
  uint64_t run = __atomic_fetch_add(k->runs, 1, __ATOMIC_RELAXED);
  k->y[0] = (uint32_t)k->seed;
  k->y[1] = (uint32_t)(k->seed >> 32);
  k->y[2] = (uint32_t)run;
  k->y[3] = (uint32_t)(run >> 32);
}
