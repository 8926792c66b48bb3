#pragma once
#include <stddef.h>

/// Zstandard 1.4 or later, opened at run time: building needs no headers, and a machine without the library gets an
/// error instead of a failure to start. The declarations are the part of its stable interface that Kelvin uses.

typedef struct kelvin_zstd_decoder kelvin_zstd_decoder;
typedef struct kelvin_zstd_encoder kelvin_zstd_encoder;

typedef struct {
  const void *bytes;
  size_t count, done;
} kelvin_zstd_input;

typedef struct {
  void *bytes;
  size_t count, done;
} kelvin_zstd_output;

enum { KELVIN_ZSTD_LEVEL = 100, KELVIN_ZSTD_CHECKSUM = 201 };
enum { KELVIN_ZSTD_CONTINUE = 0, KELVIN_ZSTD_FINISH = 2 };

/// Result, name after `ZSTD_`, parameters.
#define KELVIN_ZSTD_FUNCTIONS(F)                                                                   \
  F(unsigned, versionNumber, (void))                                                               \
  F(unsigned, isError, (size_t))                                                                   \
  F(kelvin_zstd_decoder *, createDCtx, (void))                                                     \
  F(size_t, freeDCtx, (kelvin_zstd_decoder *))                                                     \
  F(size_t, decompressStream, (kelvin_zstd_decoder *, kelvin_zstd_output *, kelvin_zstd_input *))  \
  F(kelvin_zstd_encoder *, createCCtx, (void))                                                     \
  F(size_t, freeCCtx, (kelvin_zstd_encoder *))                                                     \
  F(size_t, CCtx_setParameter, (kelvin_zstd_encoder *, int parameter, int value))                  \
  F(size_t, compressStream2, (kelvin_zstd_encoder *, kelvin_zstd_output *, kelvin_zstd_input *, int directive))

typedef struct {
#define KELVIN_FIELD(result, name, parameters) result(*name) parameters;
  KELVIN_ZSTD_FUNCTIONS(KELVIN_FIELD)
#undef KELVIN_FIELD
} kelvin_zstd;

/// Returns the library, opened once for the process; NULL if it cannot be used, and `reason` then has the cause.
const kelvin_zstd *kelvin_zstd_load(const char **reason);
