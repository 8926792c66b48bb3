#pragma once
#include "ck_kernels.h"

enum { ck_chain_pointers = 4, ck_chain_arguments = 512 };

/* One task of a chain, whose items are strips. Its arguments begin with pointers. */
typedef struct {
  ck_run run;
  const void *args;
  /* Bytes of the arguments, at most ck_chain_arguments. */
  size_t size;
  /* For each pointer whose tensor is a strip of the thread's memory, the bytes of an element; otherwise 0. */
  size_t elements[ck_chain_pointers];
  /* The offsets of these strips in the thread's memory, in bytes. */
  size_t places[ck_chain_pointers];
} ck_chain_link;

/* Runs several element-wise tasks on one strip before the next, so that values between them stay in the thread's
 * memory. Items are strips. */
typedef struct {
  const ck_chain_link *links;
  size_t count;
} ck_chain_args;
void ck_chain_run(const void *args, size_t begin, size_t end, void *scratch);
