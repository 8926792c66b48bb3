#pragma once
#include <stddef.h>
#include <stdint.h>

// Image decoding and encoding by libvips, opened at run time. Building needs no headers, and a machine without the
// library gets an error instead of a failure to start. Every function may be called from any thread. Functions below
// `ck_image_enter` must be called between `ck_image_enter` and `ck_image_leave`. A `message` receives at most
// `message_size` bytes, always terminated.

enum ck_image_format {
  CK_IMAGE_JPEG,
  CK_IMAGE_PNG,
  CK_IMAGE_WEBP,
  CK_IMAGE_TIFF,
  CK_IMAGE_GIF,
  CK_IMAGE_HEIF,
};

/// The header of an image file, read before any pixel is decoded.
struct ck_image_header {
  int64_t width;
  int64_t height;
  /// The EXIF orientation, 1 if the file has none or an invalid one.
  int32_t orientation;
};

struct ck_image;

/// Opens and initializes libvips, once for the process. Returns null if it is ready, otherwise the reason why it is
/// not.
const char *ck_image_prepare(void);

/// Begins work with libvips, in parallel with other threads or alone. libvips keeps one error message for the whole
/// process. A call always reports whether it failed, but the message is reliable only if no other thread is at work.
void ck_image_enter(int alone);
void ck_image_leave(void);

/// The severity of decoder messages for which a file is rejected. Truncated images are always rejected.
enum ck_image_tolerance {
  /// Rejects files with decoder errors.
  CK_IMAGE_REFUSE_ERRORS,
  /// Rejects files with decoder warnings too.
  CK_IMAGE_REFUSE_WARNINGS,
};

/// Whether this build of libvips reads a format; distributions choose the formats.
int ck_image_reads(enum ck_image_format format);

/// Reads a header. `bytes` must stay valid until `ck_image_close`. Returns null and a message on failure.
struct ck_image *ck_image_open(
  const void *bytes, size_t size, enum ck_image_format format, enum ck_image_tolerance tolerance,
  struct ck_image_header *header, char *message, size_t message_size);

/// Returns the comment of a PNG with a keyword, or null if there is none; valid until `ck_image_close`.
const char *ck_image_comment(struct ck_image *image, const char *key);

/// Decodes the opened image into `rgb`: width x height x 3 bytes, sRGB, alpha composed on black, without applying the
/// orientation. Returns 0, or -1 and a message; after a failure the contents of `rgb` are unspecified.
int ck_image_read(struct ck_image *image, uint8_t *rgb, size_t size, char *message, size_t message_size);

void ck_image_close(struct ck_image *image);

/// Encodes interleaved 8-bit pixels of 1 (grey), 3 (RGB) or 4 (RGBA) channels. `suffix` is the format and its options
/// in libvips' notation (".png", ".jpg[Q=90]"). Returns a block to pass to `ck_image_free`, or null and a message.
void *ck_image_encode(
  const uint8_t *pixels, int width, int height, int channels, const char *suffix, size_t *size,
  char *message, size_t message_size);

void ck_image_free(void *block);
