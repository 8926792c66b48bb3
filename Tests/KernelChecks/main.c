/* check_kernels [SEEDS [FIRST]]: runs every family with this number of seeds, up to the first difference. */
#include "CKernelChecks.h"
#include <stdio.h>
#include <stdlib.h>

static const char *outcome(size_t family, size_t variant, uint64_t first, uint64_t seeds) {
  for (uint64_t seed = first; seed < first + seeds; seed++) {
    char text[1000];
    switch (kernel_check_run(family, variant, seed, text, sizeof text)) {
    case kernel_agrees: break;
    case kernel_is_shared: return "shared";
    case kernel_is_missing: return "none";
    case kernel_differs:
      printf("differs\n%s\n", text);
      exit(1);
    }
  }
  return "agrees";
}

int main(int count, char **arguments) {
  uint64_t seeds = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
  uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
  printf("seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + seeds - 1));
  for (size_t family = 0; family < kernel_check_families(); family++)
    for (size_t variant = 0; variant < kernel_check_variants(); variant++) {
      printf("%-28s %-14s ", kernel_check_family(family), kernel_check_variant(variant));
      fflush(stdout);
      puts(outcome(family, variant, first, seeds));
    }
  return 0;
}
