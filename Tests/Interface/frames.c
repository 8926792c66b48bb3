// Images of every format that libkelvin takes, read in place, and image files: frames DIGITS.mlpackage IMAGE.png.
// Prints errors and then exits with status 1.
#include <kelvin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static char *error;

static void expect(const char *what, kelvin_code got, kelvin_code wanted, const char *words) {
  if (got != wanted || (words && (!error || !strstr(error, words)))) {
    failures++;
    printf("%s: expected %d with '%s', got %d: %s\n", what, wanted, words ? words : "", got, error ? error : "no words");
  }
  kelvin_free(error);
  error = NULL;
}

static void must(const char *what, int holds) {
  if (!holds) failures++, printf("%s does not hold\n", what);
}

enum { SIDE = 64, WIDE = 4 * SIDE + 24 };
static const char *const digit = "image";

static int equal(const kelvin_frame *one, const kelvin_frame *other) {
  return one->format == other->format && one->width == other->width && one->height == other->height
    && memcmp(one->planes, other->planes, sizeof one->planes) == 0;
}

// The probability that the model gives its own label, of what was set.
static double best(kelvin_model *model, kelvin_features *in, char label[16]) {
  kelvin_features *out = kelvin_features_new();
  const char *const *keys;
  const double *values;
  size_t count;
  bool is_numbered;
  double share = -1;
  expect("predicting", kelvin_predict(model, in, out, NULL, NULL, &error), KELVIN_OK, NULL);
  kelvin_code code = kelvin_features_get_dictionary(out, "classLabel_probs", &keys, &values, &count, &is_numbered, &error);
  expect("labels", code, KELVIN_OK, NULL);
  if (code == KELVIN_OK) snprintf(label, 16, "%s", keys[0]), share = values[0];
  kelvin_features_release(out);
  return share;
}

// The grey levels in another format, in rows that are WIDE elements apart, and what the second plane needs.
static kelvin_frame as(kelvin_pixels format, const unsigned char *levels, void *memory, void *chroma) {
  kelvin_frame frame = {format, SIDE, SIDE, {{memory, 0}, {NULL, 0}}};
  unsigned char *bytes = memory;
  float *floats = memory;
  _Float16 *halves = memory;
  for (int y = 0; y < SIDE; y++) {
    for (int x = 0; x < SIDE; x++) {
      unsigned char level = levels[y * SIDE + x];
      switch (format) {
        case KELVIN_GRAY16_HALF: halves[y * WIDE + x] = (_Float16)(level / 255.0f); break;
        case KELVIN_GRAY32_FLOAT: floats[y * WIDE + x] = level / 255.0f; break;
        case KELVIN_RGBA16_HALF:
          for (int c = 0; c < 4; c++) halves[y * WIDE + 4 * x + c] = (_Float16)(level / 255.0f);
          break;
        case KELVIN_RGBA32_FLOAT:
          for (int c = 0; c < 4; c++) floats[y * WIDE + 4 * x + c] = level / 255.0f;
          break;
        case KELVIN_RGB8: memset(bytes + y * WIDE + 3 * x, level, 3); break;
        case KELVIN_RGBA8:
        case KELVIN_BGRA8:
        case KELVIN_ARGB8: memset(bytes + y * WIDE + 4 * x, level, 4); break;
        case KELVIN_YCBCR601_VIDEO:
        case KELVIN_YCBCR709_VIDEO: bytes[y * WIDE + x] = (unsigned char)(16 + (level * 219 + 127) / 255); break;
        default: bytes[y * WIDE + x] = level;
      }
    }
  }
  size_t element = format == KELVIN_GRAY16_HALF || format == KELVIN_RGBA16_HALF ? 2
    : format == KELVIN_GRAY32_FLOAT || format == KELVIN_RGBA32_FLOAT            ? 4
                                                                              : 1;
  frame.planes[0].bytes_per_row = (int64_t)(WIDE * element);
  if (format >= KELVIN_YCBCR601_FULL) {
    memset(chroma, 128, SIDE / 2 * (SIDE + 6));
    frame.planes[1] = (kelvin_plane){chroma, SIDE + 6};
  }
  return frame;
}

static void formats(kelvin_model *model, const unsigned char *levels) {
  void *memory = calloc(SIDE * WIDE, sizeof(float)), *chroma = malloc(SIDE / 2 * (SIDE + 6));
  char expected[16] = "", label[16] = "";
  kelvin_features *in = kelvin_features_new();
  kelvin_frame gray = {KELVIN_GRAY8, SIDE, SIDE, {{levels, 0}, {NULL, 0}}};
  expect("gray", kelvin_features_set_frame(in, digit, &gray, 1, KELVIN_FIT_EXACT, &error), KELVIN_OK, NULL);
  double share = best(model, in, expected);
  must("a digit is seen", share > 0.5);
  for (kelvin_pixels format = KELVIN_RGB8; format <= KELVIN_YCBCR709_VIDEO; format++) {
    kelvin_frame frame = as(format, levels, memory, chroma), found;
    expect("set", kelvin_features_set_frame(in, digit, &frame, 1, KELVIN_FIT_EXACT, &error), KELVIN_OK, NULL);
    expect("get", kelvin_features_get_frame(in, digit, &found, &error), KELVIN_OK, NULL);
    must("a frame is in the memory that was passed", equal(&frame, &found));
    double other = best(model, in, label);
    must("each format shows the same", strcmp(label, expected) == 0 && other > share - 0.02 && other < share + 0.02);
    bool is_bytes = format <= KELVIN_ARGB8;
    kelvin_image_buffer image = {memory, format, SIDE, SIDE, frame.planes[0].bytes_per_row};
    expect("as an image", kelvin_features_get_image(in, digit, &image, &error),
           is_bytes ? KELVIN_OK : KELVIN_ERROR_FEATURE, is_bytes ? NULL : "kelvin_features_get_frame");
    expect("set as an image", kelvin_features_set_image(in, digit, &image, 1, KELVIN_FIT_EXACT, &error),
           is_bytes ? KELVIN_OK : KELVIN_ERROR_FEATURE, is_bytes ? NULL : "kelvin_features_set_frame");
    if (!is_bytes) continue;
    must("an image shows the same", best(model, in, label) == other);
    expect("get", kelvin_features_get_frame(in, digit, &found, &error), KELVIN_OK, NULL);
    must("an image is in the memory that was passed", found.planes[0].data == memory && found.format == format);
    // Borrowed memory is read when the prediction runs.
    memset(memory, 0, SIDE * WIDE);
    must("nothing was copied", best(model, in, label) != other);
  }
  // A frame that is turned is read by each prediction too.
  kelvin_frame turned = as(KELVIN_RGB8, levels, memory, chroma), found;
  expect("turned", kelvin_features_set_frame(in, digit, &turned, 3, KELVIN_FIT_EXACT, &error), KELVIN_OK, NULL);
  expect("get", kelvin_features_get_frame(in, digit, &found, &error), KELVIN_OK, NULL);
  must("a turned frame is in the memory that was passed", equal(&turned, &found));
  double before = best(model, in, label);
  memset(memory, 0, SIDE * WIDE);
  must("a turned frame was not copied", best(model, in, label) != before);
  kelvin_features_release(in);
  free(memory);
  free(chroma);
}

static void refused(void) {
  static unsigned char luma[9 * 7], chroma[5 * 8];
  kelvin_features *in = kelvin_features_new();
  kelvin_frame good = {KELVIN_YCBCR709_VIDEO, 7, 9, {{luma, 0}, {chroma, 0}}}, frame = good;
  expect("odd sizes", kelvin_features_set_frame(in, "x", &frame, 0, KELVIN_FIT_EXACT, &error), KELVIN_OK, NULL);
  expect("NULL frame", kelvin_features_set_frame(in, "x", NULL, 1, 0, &error), KELVIN_ERROR_HANDLE, "'frame' is NULL");
  frame.planes[0].data = NULL;
  expect("no luma", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_HANDLE, "'planes[0].data' is NULL");
  frame = good, frame.planes[1].data = NULL;
  expect("no chroma", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_HANDLE,
         "'planes[1].data' is NULL");
  frame = good, frame.format = KELVIN_GRAY8;
  expect("a plane too many", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_FEATURE, "got two");
  frame = good, frame.planes[0].bytes_per_row = 6;
  expect("short rows", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_FEATURE, "rows of 7 bytes");
  frame = good, frame.planes[1].bytes_per_row = 7;
  expect("short chroma", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_FEATURE, "rows of 8 bytes");
  frame = good, frame.planes[0].bytes_per_row = -7;
  expect("rows upwards", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_FEATURE, "-7 bytes apart");
  frame = good, frame.planes[1].bytes_per_row = INT64_MAX;
  expect("rows beyond memory", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_FEATURE, "apart");
  static const int32_t sizes[][2] = {{0, 9}, {7, -1}, {INT32_MIN, INT32_MAX}};
  for (int i = 0; i < 3; i++) {
    frame = good, frame.width = sizes[i][0], frame.height = sizes[i][1];
    expect("no size", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_FEATURE, "not an image's size");
  }
  for (int format = -1; format < 15; format += 15) {
    frame = good, frame.format = format;
    expect("no format", kelvin_features_set_frame(in, "x", &frame, 1, 0, &error), KELVIN_ERROR_FEATURE, "from 1 to 13");
  }
  expect("orientation", kelvin_features_set_frame(in, "x", &good, 9, 0, &error), KELVIN_ERROR_PARAMETERS, "1 to 8");
  expect("fit", kelvin_features_set_frame(in, "x", &good, 1, 4, &error), KELVIN_ERROR_PARAMETERS, "from 0 to 3");
  expect("after all that", kelvin_features_get_frame(in, "x", &frame, &error), KELVIN_OK, NULL);
  must("what was set before stays", frame.width == 7 && frame.planes[0].data == luma && frame.planes[1].data == chroma);
  expect("a number", kelvin_features_set_int64(in, "n", 1, &error), KELVIN_OK, NULL);
  expect("no image", kelvin_features_get_frame(in, "n", &frame, &error), KELVIN_ERROR_FEATURE, "expected an image");
  expect("nothing", kelvin_features_get_frame(in, "m", &frame, &error), KELVIN_ERROR_FEATURE, "no feature 'm'");
  expect("no place", kelvin_features_get_frame(in, "x", NULL, &error), KELVIN_ERROR_HANDLE, "'frame' is NULL");
  kelvin_features_release(in);
}

static void files(const char *path) {
  kelvin_image *image = NULL, *other = NULL;
  kelvin_frame frame, again;
  int32_t orientation = 0;
  char *bytes = NULL;
  size_t count = 0;
  expect("no path", kelvin_image_read(NULL, &image, &error), KELVIN_ERROR_HANDLE, "'path' is NULL");
  expect("no file", kelvin_image_read("/nowhere.png", &image, &error), KELVIN_ERROR_IO, "nowhere");
  expect("no bytes", kelvin_image_read_bytes(NULL, 5, &image, &error), KELVIN_ERROR_HANDLE, "'bytes' is NULL");
  expect("empty", kelvin_image_read_bytes("", 0, &image, &error), KELVIN_ERROR_IO, "empty");
  expect("rubbish", kelvin_image_read_bytes("rubbish", 7, &image, &error), KELVIN_ERROR_IO, "bytes is unknown");
  expect("beyond memory", kelvin_image_read_bytes("", SIZE_MAX, &image, &error), KELVIN_ERROR_HANDLE, "do not fit memory");
  must("a call that failed writes no image", image == NULL);
  expect("read", kelvin_image_read(path, &image, &error), KELVIN_OK, NULL);
  expect("no place", kelvin_image_frame(image, NULL, NULL, &error), KELVIN_ERROR_HANDLE, "'frame' is NULL");
  expect("frame", kelvin_image_frame(image, &frame, &orientation, &error), KELVIN_OK, NULL);
  must("a file is RGB and upright", frame.format == KELVIN_RGB8 && orientation == 1 && frame.planes[1].data == NULL);
  expect("png", kelvin_frame_encode(&frame, "png", 0, &bytes, &count, &error), KELVIN_OK, NULL);
  expect("read back", kelvin_image_read_bytes(bytes, count, &other, &error), KELVIN_OK, NULL);
  if (bytes) memset(bytes, 0, count);
  kelvin_free(bytes);
  expect("frame", kelvin_image_frame(other, &again, NULL, &error), KELVIN_OK, NULL);
  must("a PNG loses nothing",
       again.width == frame.width && again.height == frame.height
         && memcmp(again.planes[0].data, frame.planes[0].data, (size_t)(frame.height * frame.planes[0].bytes_per_row)) == 0);
  expect("jpeg", kelvin_frame_encode(&frame, "jpeg", 75, &bytes, &count, &error), KELVIN_OK, NULL);
  must("a JPEG begins as one", count > 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0);
  kelvin_free(bytes);
  static const unsigned char luma[5 * 3], chroma[3 * 4];
  kelvin_frame video = {KELVIN_YCBCR601_FULL, 3, 5, {{luma, 0}, {chroma, 0}}};
  expect("video", kelvin_frame_encode(&video, "png", 0, &bytes, &count, &error), KELVIN_OK, NULL);
  kelvin_free(bytes);
  expect("gif", kelvin_frame_encode(&frame, "gif", 0, &bytes, &count, &error), KELVIN_ERROR_PARAMETERS, "png or jpeg");
  expect("quality", kelvin_frame_encode(&frame, "jpeg", 101, &bytes, &count, &error), KELVIN_ERROR_PARAMETERS, "1 to 100");
  expect("of png", kelvin_frame_encode(&frame, "png", 9, &bytes, &count, &error), KELVIN_ERROR_PARAMETERS, "0 for png");
  expect("nothing", kelvin_frame_encode(NULL, "png", 0, &bytes, &count, &error), KELVIN_ERROR_HANDLE, "'frame' is NULL");
  expect("no place", kelvin_frame_encode(&frame, "png", 0, NULL, &count, &error), KELVIN_ERROR_HANDLE, "'bytes' is NULL");
  kelvin_image_release(other);
  kelvin_image_release(image);
  kelvin_image_release(image);
  kelvin_image_release(NULL);
  expect("released", kelvin_image_frame(image, &frame, NULL, &error), KELVIN_ERROR_HANDLE,
         "an image, got one that was released");
}

int main(int count, char **arguments) {
  if (count != 3) return 64;
  kelvin_model *model = NULL;
  kelvin_image *image = NULL;
  kelvin_frame frame;
  expect("loading", kelvin_model_load(arguments[1], NULL, NULL, &model, &error), KELVIN_OK, NULL);
  expect("reading", kelvin_image_read(arguments[2], &image, &error), KELVIN_OK, NULL);
  if (failures) return 1;
  expect("frame", kelvin_image_frame(image, &frame, NULL, &error), KELVIN_OK, NULL);
  static unsigned char levels[SIDE * SIDE];
  // The middle of the image, in grey.
  for (int i = 0; i < SIDE * SIDE; i++) {
    int x = (frame.width - frame.height) / 2 + i % SIDE * frame.height / SIDE, y = i / SIDE * frame.height / SIDE;
    levels[i] = ((const unsigned char *)frame.planes[0].data)[y * frame.planes[0].bytes_per_row + 3 * x + 1];
  }
  kelvin_image_release(image);
  formats(model, levels);
  refused();
  files(arguments[2]);
  kelvin_model_release(model);
  printf("%d failures\n", failures);
  return failures != 0;
}
