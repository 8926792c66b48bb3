#define _GNU_SOURCE
#include "image_codecs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The part of libvips' C interface (8.12 or later) that is used here. Names and values are its published ABI.
typedef struct VipsImage VipsImage;
enum { VIPS_ACCESS_SEQUENTIAL = 1, VIPS_FAIL_ON_ERROR = 2, VIPS_FAIL_ON_WARNING = 3 };
enum { VIPS_FORMAT_UCHAR = 0, VIPS_INTENT_PERCEPTUAL = 0 };
enum {
  VIPS_INTERPRETATION_B_W = 1,
  VIPS_INTERPRETATION_LAB = 13,
  VIPS_INTERPRETATION_CMYK = 15,
  VIPS_INTERPRETATION_LABS = 21,
  VIPS_INTERPRETATION_sRGB = 22,
};
enum { LOG_LEVELS_BELOW_ERROR = 8 | 16 | 32 | 64 | 128 };
typedef int loader(void *, size_t, VipsImage **, ...);

static struct {
  int (*init)(const char *);
  int (*version)(int);
  void (*concurrency_set)(int);
  void (*cache_set_max)(int);
  void (*thread_shutdown)(void);
  char *(*error_buffer_copy)(void);
  void (*error_clear)(void);
  loader *load_jpeg, *load_png, *load_webp, *load_tiff, *load_gif, *load_heif;
  unsigned long (*type_find)(const char *, const char *);
  int (*get_width)(const VipsImage *);
  int (*get_height)(const VipsImage *);
  int (*get_bands)(const VipsImage *);
  int (*get_format)(const VipsImage *);
  int (*get_interpretation)(const VipsImage *);
  int (*get_orientation)(VipsImage *);
  unsigned long (*get_typeof)(const VipsImage *, const char *);
  int (*get_blob)(const VipsImage *, const char *, const void **, size_t *);
  int (*get_string)(const VipsImage *, const char *, const char **);
  void *(*map)(VipsImage *, void *(*)(VipsImage *, const char *, void *, void *), void *);
  int (*hasalpha)(VipsImage *);
  int (*icc_transform)(VipsImage *, VipsImage **, const char *, ...);
  int (*icc_export)(VipsImage *, VipsImage **, ...);
  int (*colourspace)(VipsImage *, VipsImage **, int, ...);
  int (*flatten)(VipsImage *, VipsImage **, ...);
  int (*cast)(VipsImage *, VipsImage **, int, ...);
  VipsImage *(*new_from_memory)(const void *, size_t, int, int, int, int);
  int (*write)(VipsImage *, VipsImage *);
  int (*copy)(VipsImage *, VipsImage **, ...);
  int (*write_to_buffer)(VipsImage *, const char *, void **, size_t *, ...);
  void (*object_unref)(void *);
  void (*release)(void *);
  unsigned (*log_set_handler)(const char *, int, void (*)(const char *, int, const char *, void *), void *);
} vips;

static const struct {
  const char *symbol;
  void *slot;
} symbols[] = {
  {"vips_init", &vips.init},
  {"vips_version", &vips.version},
  {"vips_concurrency_set", &vips.concurrency_set},
  {"vips_cache_set_max", &vips.cache_set_max},
  {"vips_thread_shutdown", &vips.thread_shutdown},
  {"vips_error_buffer_copy", &vips.error_buffer_copy},
  {"vips_error_clear", &vips.error_clear},
  {"vips_type_find", &vips.type_find},
  {"vips_jpegload_buffer", &vips.load_jpeg},
  {"vips_pngload_buffer", &vips.load_png},
  {"vips_webpload_buffer", &vips.load_webp},
  {"vips_tiffload_buffer", &vips.load_tiff},
  {"vips_gifload_buffer", &vips.load_gif},
  {"vips_heifload_buffer", &vips.load_heif},
  {"vips_image_get_width", &vips.get_width},
  {"vips_image_get_height", &vips.get_height},
  {"vips_image_get_bands", &vips.get_bands},
  {"vips_image_get_format", &vips.get_format},
  {"vips_image_get_interpretation", &vips.get_interpretation},
  {"vips_image_get_orientation", &vips.get_orientation},
  {"vips_image_get_typeof", &vips.get_typeof},
  {"vips_image_get_blob", &vips.get_blob},
  {"vips_image_get_string", &vips.get_string},
  {"vips_image_map", &vips.map},
  {"vips_image_hasalpha", &vips.hasalpha},
  {"vips_icc_transform", &vips.icc_transform},
  {"vips_icc_export", &vips.icc_export},
  {"vips_colourspace", &vips.colourspace},
  {"vips_flatten", &vips.flatten},
  {"vips_cast", &vips.cast},
  {"vips_image_new_from_memory", &vips.new_from_memory},
  {"vips_image_write", &vips.write},
  {"vips_copy", &vips.copy},
  {"vips_image_write_to_buffer", &vips.write_to_buffer},
  {"g_object_unref", &vips.object_unref},
  {"g_free", &vips.release},
  {"g_log_set_handler", &vips.log_set_handler},
};

static const struct {
  loader *const *load;
  const char *operation;
} loaders[] = {
  [CK_IMAGE_JPEG] = {&vips.load_jpeg, "jpegload_buffer"},
  [CK_IMAGE_PNG] = {&vips.load_png, "pngload_buffer"},
  [CK_IMAGE_WEBP] = {&vips.load_webp, "webpload_buffer"},
  [CK_IMAGE_TIFF] = {&vips.load_tiff, "tiffload_buffer"},
  [CK_IMAGE_GIF] = {&vips.load_gif, "gifload_buffer"},
  [CK_IMAGE_HEIF] = {&vips.load_heif, "heifload_buffer"},
};

static char unavailable[256];

static void ignore_log(const char *domain, int level, const char *message, void *data) {}

static void open_library(void) {
  void *library = dlopen("libvips.so.42", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    snprintf(unavailable, sizeof unavailable, "%s", why ? why : "libvips.so.42 cannot be opened");
    return;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *address = dlsym(library, symbols[i].symbol);
    if (!address) {
      snprintf(unavailable, sizeof unavailable, "libvips.so.42 has no function %s", symbols[i].symbol);
      return;
    }
    memcpy(symbols[i].slot, &address, sizeof address);
  }
  if (vips.version(0) < 8 || (vips.version(0) == 8 && vips.version(1) < 12)) {
    snprintf(
      unavailable, sizeof unavailable, "libvips 8.12 or later is needed, this is %d.%d",
      vips.version(0), vips.version(1));
    return;
  }
  // Errors of a file are returned; libvips would print them to stderr as well.
  vips.log_set_handler("VIPS", LOG_LEVELS_BELOW_ERROR, ignore_log, NULL);
  if (vips.init("kelvin")) {
    char *why = vips.error_buffer_copy();
    snprintf(unavailable, sizeof unavailable, "libvips does not start: %s", why ? why : "no reason given");
    return;
  }
  vips.concurrency_set(1);
  vips.cache_set_max(0);
}

const char *ck_image_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  return unavailable[0] ? unavailable : NULL;
}

static pthread_rwlock_t at_work = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void ck_image_enter(int alone) {
  if (alone) {
    pthread_rwlock_wrlock(&at_work);
    vips.error_clear();
  } else {
    pthread_rwlock_rdlock(&at_work);
  }
}

void ck_image_leave(void) {
  vips.thread_shutdown();
  pthread_rwlock_unlock(&at_work);
}

// Moves libvips' error message into `message` as one line.
static void take_message(char *message, size_t size) {
  char *text = vips.error_buffer_copy();
  snprintf(message, size, "%s", text ? text : "");
  if (text) vips.release(text);
  size_t length = strlen(message);
  while (length && (message[length - 1] == '\n' || message[length - 1] == ' ')) message[--length] = 0;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)message[i];
    if (c == '\n') message[i] = ';';
    else if (c < 0x20 || c == 0x7f) message[i] = '?';
  }
}

int ck_image_reads(enum ck_image_format format) {
  return vips.type_find("VipsOperation", loaders[format].operation) != 0;
}

struct ck_image *ck_image_open(
  const void *bytes, size_t size, enum ck_image_format format, enum ck_image_tolerance tolerance,
  struct ck_image_header *header, char *message, size_t message_size) {
  VipsImage *image = NULL;
  int fail_on = tolerance == CK_IMAGE_REFUSE_WARNINGS ? VIPS_FAIL_ON_WARNING : VIPS_FAIL_ON_ERROR;
  int failed =
    (*loaders[format].load)((void *)bytes, size, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
  if (failed || !image) {
    take_message(message, message_size);
    return NULL;
  }
  int orientation = vips.get_orientation(image);
  *header = (struct ck_image_header){
    .width = vips.get_width(image),
    .height = vips.get_height(image),
    .orientation = orientation >= 1 && orientation <= 8 ? orientation : 1,
  };
  return (struct ck_image *)image;
}

// Returns a field "png-comment-NUMBER-KEY" with the given key; null continues with the next field.
static void *find_comment(VipsImage *image, const char *name, void *value, void *key) {
  if (strncmp(name, "png-comment-", 12)) return NULL;
  const char *end = strchr(name + 12, '-');
  const char *text = NULL;
  if (!end || strcmp(end + 1, key) || vips.get_string(image, name, &text)) return NULL;
  return (void *)text;
}

const char *ck_image_comment(struct ck_image *image, const char *key) {
  return vips.map((VipsImage *)image, find_comment, (void *)key);
}

void ck_image_close(struct ck_image *image) { vips.object_unref(image); }

// Replaces `*image` by `next`, the result of an operation on it.
static bool advance(VipsImage **image, VipsImage *next) {
  vips.object_unref(*image);
  *image = next;
  return true;
}

// Whether a profile's name contains sRGB, in Latin-1 or UTF-16; such pixels need no conversion.
static bool names_srgb(const uint8_t *profile, size_t size) {
  static const char narrow[] = {'s', 'R', 'G', 'B'};
  static const char wide[] = {0, 's', 0, 'R', 0, 'G', 0, 'B'};
  if (size < 132 || memcmp(profile + 16, "RGB ", 4)) return false;
  uint32_t count = (uint32_t)profile[128] << 24 | profile[129] << 16 | profile[130] << 8 | profile[131];
  for (uint32_t i = 0; i < count && i < 64 && 132 + 12 * (size_t)(i + 1) <= size; i++) {
    const uint8_t *tag = profile + 132 + 12 * i;
    if (memcmp(tag, "desc", 4)) continue;
    size_t offset = (size_t)tag[4] << 24 | tag[5] << 16 | tag[6] << 8 | tag[7];
    size_t length = (size_t)tag[8] << 24 | tag[9] << 16 | tag[10] << 8 | tag[11];
    if (offset > size || length > size - offset) return false;
    return memmem(profile + offset, length, narrow, sizeof narrow)
      || memmem(profile + offset, length, wide, sizeof wide);
  }
  return false;
}

// Converts `*image` to 8-bit colour in sRGB, by its own profile if it has one.
static bool to_srgb(VipsImage **image) {
  VipsImage *next = NULL;
  const void *profile = NULL;
  size_t size = 0;
  if (vips.get_typeof(*image, "icc-profile-data") && !vips.get_blob(*image, "icc-profile-data", &profile, &size)
      && !names_srgb(profile, size)) {
    if (!vips.icc_transform(*image, &next, "srgb", "embedded", 1, "intent", VIPS_INTENT_PERCEPTUAL, NULL))
      return advance(image, next);
    vips.error_clear();
  }
  int space = vips.get_interpretation(*image);
  if (space == VIPS_INTERPRETATION_LAB || space == VIPS_INTERPRETATION_LABS)
    return !vips.icc_export(*image, &next, "output_profile", "srgb", "depth", 8, NULL) && advance(image, next);
  return !vips.colourspace(*image, &next, VIPS_INTERPRETATION_sRGB, NULL) && advance(image, next);
}

static bool compose_on_black(VipsImage **image) {
  VipsImage *next = NULL;
  return !vips.hasalpha(*image) || (!vips.flatten(*image, &next, NULL) && advance(image, next));
}

static bool to_bytes(VipsImage **image) {
  VipsImage *next = NULL;
  return vips.get_format(*image) == VIPS_FORMAT_UCHAR
    || (!vips.cast(*image, &next, VIPS_FORMAT_UCHAR, NULL) && advance(image, next));
}

// CMYK inks without a profile: each colour is the light that its ink and black let through, (255 - ink)(255 - black) /
// 255.
static void inks_to_rgb(const uint8_t *inks, uint8_t *rgb, size_t pixels) {
  for (size_t i = 0; i < pixels; i++)
    for (size_t c = 0; c < 3; c++)
      rgb[3 * i + c] = (uint8_t)(((255 - inks[4 * i + c]) * (255 - inks[4 * i + 3]) + 127) / 255);
}

// Decodes into `pixels`, which has room for `bands` bytes a pixel.
static bool write_bytes(VipsImage *image, int bands, uint8_t *pixels, size_t size) {
  VipsImage *target =
    vips.new_from_memory(pixels, size, vips.get_width(image), vips.get_height(image), bands, VIPS_FORMAT_UCHAR);
  if (!target) return false;
  bool written = !vips.write(image, target);
  vips.object_unref(target);
  return written;
}

static bool read_inks(VipsImage *image, uint8_t *rgb, size_t pixels) {
  uint8_t *inks = malloc(pixels * 4);
  bool done = inks && write_bytes(image, 4, inks, pixels * 4);
  if (done) inks_to_rgb(inks, rgb, pixels);
  free(inks);
  return done;
}

int ck_image_read(struct ck_image *opaque, uint8_t *rgb, size_t size, char *message, size_t message_size) {
  VipsImage *source = (VipsImage *)opaque;
  size_t pixels = (size_t)vips.get_width(source) * (size_t)vips.get_height(source);
  if (vips.get_interpretation(source) == VIPS_INTERPRETATION_CMYK && vips.get_format(source) == VIPS_FORMAT_UCHAR
      && vips.get_bands(source) == 4 && !vips.get_typeof(source, "icc-profile-data") && pixels * 3 == size) {
    if (read_inks(source, rgb, pixels)) return 0;
    take_message(message, message_size);
    return -1;
  }
  VipsImage *image = NULL;
  bool done = !vips.copy(source, &image, NULL) && to_srgb(&image) && compose_on_black(&image)
    && to_bytes(&image);
  if (done && (vips.get_bands(image) != 3 || pixels * 3 != size)) {
    snprintf(message, message_size, "decodes to %d channels, expected 3", vips.get_bands(image));
    vips.object_unref(image);
    return -1;
  }
  if (done) done = write_bytes(image, 3, rgb, size);
  if (!done) take_message(message, message_size);
  if (image) vips.object_unref(image);
  return done ? 0 : -1;
}

void *ck_image_encode(
  const uint8_t *pixels, int width, int height, int channels, const char *suffix, size_t *size,
  char *message, size_t message_size) {
  VipsImage *raw = vips.new_from_memory(
    pixels, (size_t)width * (size_t)height * (size_t)channels, width, height, channels, VIPS_FORMAT_UCHAR);
  VipsImage *tagged = NULL;
  void *block = NULL;
  int interpretation = channels == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
  if (!raw || vips.copy(raw, &tagged, "interpretation", interpretation, NULL)
      || vips.write_to_buffer(tagged, suffix, &block, size, NULL)) {
    take_message(message, message_size);
    block = NULL;
  }
  if (tagged) vips.object_unref(tagged);
  if (raw) vips.object_unref(raw);
  return block;
}

void ck_image_free(void *block) { vips.release(block); }
