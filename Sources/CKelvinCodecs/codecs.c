#include "CKelvinCodecs.h"

#include "zstd_table.h"

#include <stdlib.h>
#include <zlib.h>

/// The most bytes that zlib takes at once, whose counts have 32 bits.
enum { STEP = 1 << 30 };

struct kelvin_codec {
  kelvin_codec_kind kind;
  bool is_encoder, has_ended;
  z_stream stream;
  const kelvin_zstd *zstd;
  kelvin_zstd_decoder *decoder;
  kelvin_zstd_encoder *encoder;
};

static kelvin_codec *create(kelvin_codec_kind kind, bool is_encoder, int level, const char **reason) {
  *reason = NULL;
  const kelvin_zstd *zstd = kind == KELVIN_ZSTD ? kelvin_zstd_load(reason) : NULL;
  if (kind == KELVIN_ZSTD && !zstd) return NULL;
  kelvin_codec *codec = calloc(1, sizeof *codec);
  if (!codec) return NULL;
  (codec->kind = kind, codec->is_encoder = is_encoder, codec->zstd = zstd);
  int bits = kind == KELVIN_GZIP ? MAX_WBITS + 16 : -MAX_WBITS;
  bool is_made;
  if (zstd && is_encoder) {
    codec->encoder = zstd->createCCtx();
    is_made = codec->encoder && !zstd->isError(zstd->CCtx_setParameter(codec->encoder, KELVIN_ZSTD_LEVEL, level)) &&
              !zstd->isError(zstd->CCtx_setParameter(codec->encoder, KELVIN_ZSTD_CHECKSUM, 1));
  } else if (zstd) {
    is_made = (codec->decoder = zstd->createDCtx()) != NULL;
  } else if (is_encoder) {
    is_made = deflateInit2(&codec->stream, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  } else {
    is_made = inflateInit2(&codec->stream, bits) == Z_OK;
  }
  if (is_made) return codec;
  if (codec->encoder) zstd->freeCCtx(codec->encoder);
  free(codec);
  return NULL;
}

kelvin_codec *kelvin_decoder_create(kelvin_codec_kind kind, const char **reason) {
  return create(kind, false, 0, reason);
}

kelvin_codec *kelvin_encoder_create(kelvin_codec_kind kind, int level, const char **reason) {
  return create(kind, true, level, reason);
}

static kelvin_codec_status run_zstd(kelvin_codec *codec, kelvin_codec_piece *piece, bool is_last) {
  kelvin_zstd_input input = {piece->input, piece->input_count, 0};
  kelvin_zstd_output output = {piece->output, piece->output_count, 0};
  size_t left = codec->is_encoder
                  ? codec->zstd->compressStream2(
                      codec->encoder, &output, &input, is_last ? KELVIN_ZSTD_FINISH : KELVIN_ZSTD_CONTINUE)
                  : codec->zstd->decompressStream(codec->decoder, &output, &input);
  if (codec->zstd->isError(left)) return KELVIN_CODEC_DAMAGED;
  piece->input = (const char *)piece->input + input.done;
  piece->input_count -= input.done;
  piece->output = (char *)piece->output + output.done;
  piece->output_count -= output.done;
  return left == 0 && (is_last || !codec->is_encoder) ? KELVIN_CODEC_END : KELVIN_CODEC_MORE;
}

static kelvin_codec_status run_zlib(kelvin_codec *codec, kelvin_codec_piece *piece, bool is_last) {
  z_stream *stream = &codec->stream;
  if (codec->has_ended && !codec->is_encoder && inflateReset(stream) != Z_OK) return KELVIN_CODEC_DAMAGED;
  codec->has_ended = false;
  uInt in = piece->input_count < STEP ? (uInt)piece->input_count : STEP;
  uInt out = piece->output_count < STEP ? (uInt)piece->output_count : STEP;
  // zlib refuses a null pointer even for no bytes.
  Bytef none;
  stream->next_in = piece->input ? (Bytef *)piece->input : &none;
  stream->next_out = piece->output ? (Bytef *)piece->output : &none;
  (stream->avail_in = in, stream->avail_out = out);
  int end = codec->is_encoder ? deflate(stream, is_last && in == piece->input_count ? Z_FINISH : Z_NO_FLUSH)
                              : inflate(stream, Z_NO_FLUSH);
  size_t taken = in - stream->avail_in, given = out - stream->avail_out;
  piece->input = piece->input ? (const char *)piece->input + taken : NULL;
  piece->output = piece->output ? (char *)piece->output + given : NULL;
  piece->input_count -= taken;
  piece->output_count -= given;
  switch (end) {
    case Z_STREAM_END: codec->has_ended = true; return KELVIN_CODEC_END;
    case Z_OK:
    case Z_BUF_ERROR: return KELVIN_CODEC_MORE;
    case Z_MEM_ERROR: return KELVIN_CODEC_NO_MEMORY;
    default: return KELVIN_CODEC_DAMAGED;
  }
}

kelvin_codec_status kelvin_codec_run(kelvin_codec *codec, kelvin_codec_piece *piece, bool is_last) {
  return codec->zstd ? run_zstd(codec, piece, is_last) : run_zlib(codec, piece, is_last);
}

void kelvin_codec_destroy(kelvin_codec *codec) {
  if (!codec) return;
  if (codec->encoder) codec->zstd->freeCCtx(codec->encoder);
  if (codec->decoder) codec->zstd->freeDCtx(codec->decoder);
  if (!codec->zstd && codec->is_encoder) deflateEnd(&codec->stream);
  if (!codec->zstd && !codec->is_encoder) inflateEnd(&codec->stream);
  free(codec);
}

uint32_t kelvin_crc32_add(uint32_t value, const void *bytes, size_t count) {
  return count ? (uint32_t)crc32_z(value, bytes, count) : value;
}
