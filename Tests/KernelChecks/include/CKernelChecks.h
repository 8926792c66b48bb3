#pragma once
#include <stddef.h>
#include <stdint.h>

/* Checks of the kernels of every instruction set that the machine runs, family by family. */

size_t kernel_check_families(void);
const char *kernel_check_family(size_t family);
size_t kernel_check_variants(void);
const char *kernel_check_variant(size_t variant);

typedef enum {
  kernel_agrees,
  kernel_differs,
  /* A better instruction set has the same kernel. */
  kernel_is_shared,
  kernel_is_missing,
} kernel_verdict;

/* Runs the cases of one family for the seed. If a result differs, `text` describes the case. */
kernel_verdict kernel_check_run(size_t family, size_t variant, uint64_t seed, char *text, size_t size);
