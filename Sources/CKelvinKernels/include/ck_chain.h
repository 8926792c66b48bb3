#pragma once
#include "ck_kernels.h"

enum { ck_chain_pointers = 3, ck_chain_arguments = 512 };

/* One task of a chain. Its arguments begin with pointers to float32. */
typedef struct {
  ck_run run;
  const void *args;
  /* Bytes of the arguments, at most ck_chain_arguments. */
  size_t size;
  /* For each pointer, 1 + the number of the thread's chunk that takes the place of the tensor, or 0. */
  size_t chunks[ck_chain_pointers];
} ck_chain_link;

/* Runs each item of several element-wise tasks before the next item, so that values between them stay in a thread's
 * chunks. All tasks have the items of [outer, inner]: (outer index, chunk of ck_map_chunk inner elements). */
typedef struct {
  const ck_chain_link *links;
  size_t count;
  size_t inner;
} ck_chain_args;
void ck_chain_run(const void *args, size_t begin, size_t end, void *scratch);
