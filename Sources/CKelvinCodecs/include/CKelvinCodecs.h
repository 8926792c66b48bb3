#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Compression in pieces: by zlib, whose code is linked into the program, and by Zstandard, whose library libzstd.so.1
/// is opened when it is first used.

typedef enum {
  /// RFC 1952.
  KELVIN_GZIP,
  /// RFC 1951.
  KELVIN_RAW_DEFLATE,
  /// RFC 8878.
  KELVIN_ZSTD,
} kelvin_codec_kind;

typedef enum {
  /// The codec needs more input, or more room for its output.
  KELVIN_CODEC_MORE,
  /// A stream has ended. More input begins another stream.
  KELVIN_CODEC_END,
  /// The input is not a valid stream, or needs a window of more than 128 MiB.
  KELVIN_CODEC_DAMAGED,
  KELVIN_CODEC_NO_MEMORY,
} kelvin_codec_status;

typedef struct kelvin_codec kelvin_codec;

/// The input that is left, and the room for output that is left.
typedef struct {
  const void *_Nullable input;
  size_t input_count;
  void *_Nullable output;
  size_t output_count;
} kelvin_codec_piece;

/// Creates a decoder. Returns NULL without memory, or if the library cannot be used: `reason` then has the cause.
kelvin_codec *_Nullable kelvin_decoder_create(kelvin_codec_kind, const char *_Nullable *_Nonnull reason);

/// Creates an encoder of a level: 1 to 9 for DEFLATE, 1 to 19 for Zstandard. Returns NULL as `kelvin_decoder_create`.
kelvin_codec *_Nullable kelvin_encoder_create(kelvin_codec_kind, int level, const char *_Nullable *_Nonnull reason);

/// Takes input and gives output. Neither is left only at the end of a stream, or if more is needed.
///
/// `is_last` ends the stream of an encoder with this input, which must be given until the stream has ended.
kelvin_codec_status kelvin_codec_run(kelvin_codec *_Nonnull, kelvin_codec_piece *_Nonnull, bool is_last);

void kelvin_codec_destroy(kelvin_codec *_Nullable);

/// Continues the CRC-32 of ZIP with more bytes. The value of no bytes is 0.
uint32_t kelvin_crc32_add(uint32_t value, const void *_Nullable bytes, size_t count);
