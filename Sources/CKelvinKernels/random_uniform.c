#include "ck_random_uniform.h"

static void philox(uint32_t c[4], uint32_t key, uint32_t other_key) {
  for (int round = 0; round < 10; round++) {
    uint64_t first = (uint64_t)c[0] * 0xD2511F53u, second = (uint64_t)c[2] * 0xCD9E8D57u;
    uint32_t third = (uint32_t)(second >> 32) ^ c[1] ^ key, last = (uint32_t)(first >> 32) ^ c[3] ^ other_key;
    c[0] = third;
    c[1] = (uint32_t)second;
    c[2] = last;
    c[3] = (uint32_t)first;
    key += 0x9E3779B9u;
    other_key += 0xBB67AE85u;
  }
}

void ck_random_uniform_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_random_uniform_args *r = args;
  for (size_t block = begin; block < end; block++) {
    uint32_t words[4] = {(uint32_t)block, r->stream, r->key[2], r->key[3]};
    philox(words, r->key[0], r->key[1]);
    for (size_t i = 0; i < 4 && 4 * block + i < r->count; i++)
      r->y[4 * block + i] = (float)(words[i] >> 8) * 0x1p-24f;
  }
}
