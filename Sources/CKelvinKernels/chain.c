#include "ck_chain.h"

#include <string.h>

/* Calls a task for one item. A tensor that is in a chunk begins `offset` elements before the chunk. */
static void chain_call(const ck_chain_link *link, size_t item, size_t offset, void *scratch) {
  _Alignas(16) char arguments[ck_chain_arguments];
  memcpy(arguments, link->args, link->size);
  for (size_t i = 0; i < ck_chain_pointers; i++) {
    if (!link->chunks[i]) continue;
    uintptr_t place = (uintptr_t)scratch + ((link->chunks[i] - 1) * ck_map_chunk - offset) * sizeof(float);
    memcpy(arguments + i * sizeof place, &place, sizeof place);
  }
  link->run(arguments, item, item + 1, NULL);
}

void ck_chain_run(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_chain_args *c = args;
  size_t chunks = (c->inner + ck_map_chunk - 1) / ck_map_chunk;
  for (size_t item = begin; item < end; item++) {
    size_t offset = item / chunks * c->inner + item % chunks * ck_map_chunk;
    for (size_t i = 0; i < c->count; i++) chain_call(c->links + i, item, offset, scratch);
  }
}
