#pragma once
#include <stddef.h>
#include <stdint.h>

/// Compression by zlib, whose code is linked into the program.

typedef enum {
  KELVIN_INFLATED,
  /// The stream is not valid.
  KELVIN_INFLATE_DAMAGED,
  /// The stream ends before the output is full.
  KELVIN_INFLATE_SHORT,
  /// The stream has more bytes than the output.
  KELVIN_INFLATE_LONG,
  KELVIN_INFLATE_NO_MEMORY,
} kelvin_inflate_result;

/// Decompresses a stream to exactly `size` bytes: RFC 1951 if `isRaw`, else RFC 1950 with its checksum.
kelvin_inflate_result kelvin_inflate(const void *bytes, size_t count, int isRaw, void *output, size_t size);

/// Compresses to a stream of RFC 1950. Returns its number of bytes; 0 if memory is short or `count` is 4 GiB or more.
/// `output` must have `kelvin_deflate_room(count)` bytes.
size_t kelvin_deflate(const void *bytes, size_t count, void *output);
size_t kelvin_deflate_room(size_t count);

/// CRC-32 of PNG and ZIP.
uint32_t kelvin_crc32(const void *bytes, size_t count);
