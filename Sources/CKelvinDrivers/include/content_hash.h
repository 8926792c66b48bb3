#pragma once
#include <stddef.h>
#include <stdint.h>

/// XXH3-128, for content keys. Not for secrets.
typedef struct {
  uint64_t low, high;
} kelvin_hash128;

kelvin_hash128 kelvin_hash(const void *bytes, size_t count, uint64_t seed);
