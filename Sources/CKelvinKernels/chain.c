#include "ck_chain.h"

#include <string.h>

/* Calls a task for one strip. A tensor in the thread's memory is as far before it as the strip is inside the tensor. */
static void chain_call(const ck_chain_link *link, size_t item, void *scratch) {
  _Alignas(16) char arguments[ck_chain_arguments];
  memcpy(arguments, link->args, link->size);
  for (size_t i = 0; i < ck_chain_pointers; i++) {
    if (!link->elements[i]) continue;
    uintptr_t place = (uintptr_t)scratch + link->places[i] - item * ck_strip * link->elements[i];
    memcpy(arguments + i * sizeof place, &place, sizeof place);
  }
  link->run(arguments, item, item + 1, NULL);
}

void ck_chain_run(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_chain_args *c = args;
  for (size_t item = begin; item < end; item++)
    for (size_t i = 0; i < c->count; i++) chain_call(c->links + i, item, scratch);
}
