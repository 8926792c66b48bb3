#pragma once
#include <stddef.h>
#include <stdint.h>

/// XXH3-128: finds damage at the speed of memory. Anybody can make two contents with one hash.
typedef struct {
  uint64_t low, high;
} kelvin_hash128;

kelvin_hash128 kelvin_hash(const void *bytes, size_t count, uint64_t seed);

/// SHA-256 (FIPS 180-4): names that nobody can forge. By OpenSSL's code that is linked into the program, about 2 GB/s
/// where the processor has instructions for it. The state may be copied.
typedef struct {
  uint64_t words[16];
} kelvin_sha256;

void kelvin_sha256_begin(kelvin_sha256 *state);
void kelvin_sha256_add(kelvin_sha256 *state, const void *bytes, size_t count);
/// Once; the state is of no use afterwards.
void kelvin_sha256_end(kelvin_sha256 *state, uint8_t digest[32]);
