#include "content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

kelvin_hash128 kelvin_hash(const void *bytes, size_t count, uint64_t seed) {
  XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, count, seed);
  return (kelvin_hash128){hash.low64, hash.high64};
}
