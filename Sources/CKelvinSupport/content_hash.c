#include "content_hash.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

kelvin_hash128 kelvin_hash(const void *bytes, size_t count, uint64_t seed) {
  XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, count, seed);
  return (kelvin_hash128){hash.low64, hash.high64};
}

_Static_assert(sizeof(SHA256_CTX) <= sizeof(kelvin_sha256), "the state does not fit");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(kelvin_sha256), "the state is not aligned");

void kelvin_sha256_begin(kelvin_sha256 *state) { SHA256_Init((SHA256_CTX *)state); }

void kelvin_sha256_add(kelvin_sha256 *state, const void *bytes, size_t count) {
  SHA256_Update((SHA256_CTX *)state, bytes, count);
}

void kelvin_sha256_end(kelvin_sha256 *state, uint8_t digest[32]) { SHA256_Final(digest, (SHA256_CTX *)state); }
