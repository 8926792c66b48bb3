#include "deflate.h"

#include <zlib.h>

/// The most bytes that zlib takes at once, whose counts have 32 bits.
enum { STEP = 1 << 30 };

kelvin_inflate_result kelvin_inflate(const void *bytes, size_t count, int isRaw, void *output, size_t size) {
  z_stream stream = {.next_in = (Bytef *)bytes, .next_out = output};
  if (inflateInit2(&stream, isRaw ? -MAX_WBITS : MAX_WBITS) != Z_OK) return KELVIN_INFLATE_NO_MEMORY;
  // The output that the caller has no room for shows that the stream is too long.
  Bytef beyond;
  kelvin_inflate_result result = KELVIN_INFLATED;
  for (int end = Z_OK; end != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      stream.avail_in = count < STEP ? (uInt)count : STEP;
      count -= stream.avail_in;
    }
    int isFull = 0;
    if (stream.avail_out == 0) {
      stream.avail_out = size < STEP ? (uInt)size : STEP;
      size -= stream.avail_out;
      if ((isFull = stream.avail_out == 0)) (stream.next_out = &beyond, stream.avail_out = 1);
    }
    end = inflate(&stream, Z_NO_FLUSH);
    if (isFull && stream.avail_out == 0) {
      result = KELVIN_INFLATE_LONG;
      break;
    }
    if (isFull) stream.avail_out = 0;
    if (end == Z_MEM_ERROR) result = KELVIN_INFLATE_NO_MEMORY;
    else if (end == Z_BUF_ERROR || (end == Z_OK && stream.avail_in == 0 && count == 0 && stream.avail_out > 0))
      result = KELVIN_INFLATE_SHORT;
    else if (end != Z_OK && end != Z_STREAM_END) result = KELVIN_INFLATE_DAMAGED;
    if (result != KELVIN_INFLATED) break;
  }
  if (result == KELVIN_INFLATED && (stream.avail_out > 0 || size > 0)) result = KELVIN_INFLATE_SHORT;
  inflateEnd(&stream);
  return result;
}

size_t kelvin_deflate_room(size_t count) { return compressBound(count); }

size_t kelvin_deflate(const void *bytes, size_t count, void *output) {
  uLongf written = compressBound(count);
  if (count > UINT32_MAX) return 0;
  return compress(output, &written, bytes, count) == Z_OK ? written : 0;
}

uint32_t kelvin_crc32(const void *bytes, size_t count) { return (uint32_t)crc32_z(0, bytes, count); }
