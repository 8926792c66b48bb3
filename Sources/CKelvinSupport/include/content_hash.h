#pragma once
#include <stddef.h>
#include <stdint.h>

/// XXH3-128: detects damage at the speed of memory. It is not collision-resistant.
typedef struct {
  uint64_t low, high;
} kelvin_hash128;

kelvin_hash128 kelvin_hash(const void *bytes, size_t count, uint64_t seed);

/// SHA-256 (FIPS 180-4): collision-resistant. The implementation is OpenSSL's code, which is linked into the program
/// and uses the processor's instructions for it. The state may be copied.
typedef struct {
  uint64_t words[16];
} kelvin_sha256;

void kelvin_sha256_begin(kelvin_sha256 *state);
void kelvin_sha256_add(kelvin_sha256 *state, const void *bytes, size_t count);
/// Must be called once; the state must not be used afterwards.
void kelvin_sha256_end(kelvin_sha256 *state, uint8_t digest[32]);
