// Every wrong call of libkelvin that C allows must return a code and a message. hostile DIGITS.mlpackage DIGITS.onnx;
// prints errors and then exits with status 1.
#define _GNU_SOURCE
#include <kelvin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static char *error;

static const char *named(kelvin_code code) {
  static const char *const names[] = {"ok",      "io",        "unsupported", "feature", "parameters",
                                      "device",  "cancelled", "limit",       "generic", "handle"};
  return code >= 0 && code <= 9 ? names[code] : "?";
}

// Expects this code, and a message that contains these words.
static void expect(const char *what, kelvin_code got, kelvin_code wanted, const char *words) {
  if (got != wanted || (words && (!error || !strstr(error, words)))) {
    failures++;
    printf("%s: expected %s with '%s', got %s: %s\n", what, named(wanted), words ? words : "", named(got),
           error ? error : "no words");
  }
  kelvin_free(error);
  error = NULL;
}

static const int64_t shape4[] = {1, 3, 64, 64};

static kelvin_array array(void *data, kelvin_type type, int32_t rank, const int64_t *shape) {
  kelvin_array result = {data, type, rank, shape, NULL};
  return result;
}

static void handles(kelvin_model *model) {
  kelvin_features *features = kelvin_features_new(), *released = kelvin_features_new();
  kelvin_features_release(released);
  kelvin_features_release(released);
  kelvin_features_release(NULL);
  kelvin_model_release(NULL);
  char *text = NULL;
  expect("NULL model", kelvin_model_description(NULL, &text, &error), KELVIN_ERROR_HANDLE, "got NULL");
  expect("NULL result", kelvin_model_description(model, NULL, &error), KELVIN_ERROR_HANDLE, "'json' is NULL");
  expect("features as a model", kelvin_model_plan((kelvin_model *)features, &text, &error), KELVIN_ERROR_HANDLE,
         "expected a handle of a model, got one of features");
  expect("a pointer as a model", kelvin_model_plan((kelvin_model *)&failures, &text, &error), KELVIN_ERROR_HANDLE,
         "not a handle");
  expect("released features", kelvin_predict(model, released, features, NULL, NULL, &error), KELVIN_ERROR_HANDLE,
         "released");
  expect("a released handle whose place has another", kelvin_features_set_int64(released, "x", 1, &error),
         KELVIN_ERROR_HANDLE, "released");
  expect("NULL name", kelvin_features_set_int64(features, NULL, 1, &error), KELVIN_ERROR_HANDLE, "'name' is NULL");
  expect("name that is not UTF-8", kelvin_features_set_int64(features, "\xff", 1, &error), KELVIN_ERROR_PARAMETERS,
         "not UTF-8");
  expect("no place for words", kelvin_features_set_int64(NULL, "x", 1, NULL), KELVIN_ERROR_HANDLE, NULL);
  kelvin_features_release(features);
}

static void options(const char *path) {
  kelvin_options *options = kelvin_options_new();
  expect("unknown option", kelvin_options_set(options, "colour", "red", &error), KELVIN_ERROR_PARAMETERS,
         "there is no option 'colour'");
  expect("units that are none", kelvin_options_set(options, "units", "warp", &error), KELVIN_OK, NULL);
  kelvin_model *model = NULL;
  expect("a device that is not there", kelvin_model_load(path, options, NULL, &model, &error), KELVIN_ERROR_DEVICE,
         "warp");
  kelvin_options_release(options);
  options = kelvin_options_new();
  expect("threads", kelvin_options_set(options, "threads", "-3", &error), KELVIN_ERROR_PARAMETERS, "from 1 to 1024");
  expect("tuning", kelvin_options_set(options, "tuning", "loud", &error), KELVIN_ERROR_PARAMETERS, "exhaustive");
  expect("isolation", kelvin_options_set(options, "isolation", "cage", &error), KELVIN_ERROR_PARAMETERS, "none, worker");
  expect("flag", kelvin_options_set(options, "strict", "perhaps", &error), KELVIN_ERROR_PARAMETERS, "true or false");
  expect("shape", kelvin_options_set(options, "shape", "image=1x-1", &error), KELVIN_ERROR_PARAMETERS, "sizes of 0 or more");
  expect("pin", kelvin_options_set(options, "pin", "conv", &error), KELVIN_ERROR_PARAMETERS, "NODE=DEVICE");
  kelvin_options_release(options);
}

static void models(void) {
  kelvin_model *model = NULL;
  expect("no path", kelvin_model_load(NULL, NULL, NULL, &model, &error), KELVIN_ERROR_HANDLE, "'path' is NULL");
  expect("no file", kelvin_model_load("/nowhere.onnx", NULL, NULL, &model, &error), KELVIN_ERROR_IO, "no such file");
  expect("no bytes", kelvin_model_load_bytes(NULL, 5, NULL, 0, NULL, NULL, &model, &error), KELVIN_ERROR_HANDLE,
         "'bytes' is NULL");
  expect("empty", kelvin_model_load_bytes("", 0, NULL, 0, NULL, NULL, &model, &error), KELVIN_ERROR_IO, "at least one byte");
  expect("rubbish", kelvin_model_load_bytes("rubbish", 7, NULL, 0, NULL, NULL, &model, &error), KELVIN_ERROR_IO, "model");
  kelvin_cancellation *cancellation = kelvin_cancellation_new();
  expect("cancel", kelvin_cancellation_cancel(cancellation, &error), KELVIN_OK, NULL);
  expect("cancelled before", kelvin_model_load("/nowhere.onnx", NULL, cancellation, &model, &error),
         KELVIN_ERROR_CANCELLED, NULL);
  kelvin_cancellation_release(cancellation);
  if (model) failures++, printf("a call that failed wrote a model\n");
}

static void shapes(kelvin_model *model, const char *input) {
  static float pixels[3 * 64 * 64 + 1], scores[10];
  kelvin_features *in = kelvin_features_new(), *out = kelvin_features_new();
  kelvin_array given = array(pixels, KELVIN_FLOAT32, 4, shape4);
  expect("an array is passed", kelvin_features_set_array(in, input, &given, &error), KELVIN_OK, NULL);
  expect("in and out alike", kelvin_predict(model, in, in, NULL, NULL, &error), KELVIN_ERROR_PARAMETERS, "expected two");
  given.type = 99;
  expect("type", kelvin_features_set_array(in, input, &given, &error), KELVIN_ERROR_FEATURE, "expected a type from 1");
  given = array(pixels, KELVIN_FLOAT32, -1, shape4);
  expect("rank", kelvin_features_set_array(in, input, &given, &error), KELVIN_ERROR_FEATURE, "expected a rank");
  given = array(pixels, KELVIN_FLOAT32, 4, NULL);
  expect("NULL shape", kelvin_features_set_array(in, input, &given, &error), KELVIN_ERROR_HANDLE, "'shape' is NULL");
  given = array(NULL, KELVIN_FLOAT32, 4, shape4);
  expect("NULL data", kelvin_features_set_array(in, input, &given, &error), KELVIN_ERROR_HANDLE, "'data' is NULL");
  given = array((char *)pixels + 1, KELVIN_FLOAT32, 4, shape4);
  expect("misaligned", kelvin_features_set_array(in, input, &given, &error), KELVIN_ERROR_FEATURE, "multiple of 4");
  const int64_t huge[] = {INT64_MAX, INT64_MAX, 64, 64}, negative[] = {1, -1, 64, 64}, wrong[] = {1, 3, 64, 63};
  given = array(pixels, KELVIN_FLOAT32, 4, huge);
  expect("huge", kelvin_features_set_array(in, input, &given, &error), KELVIN_ERROR_FEATURE, "fit memory");
  given = array(pixels, KELVIN_FLOAT32, 4, negative);
  expect("negative", kelvin_features_set_array(in, input, &given, &error), KELVIN_ERROR_FEATURE, "at least 0");
  given = array(pixels, KELVIN_FLOAT32, 4, wrong);
  expect("a shape that the model does not take", kelvin_features_set_array(in, input, &given, &error), KELVIN_OK, NULL);
  expect("predicting from it", kelvin_predict(model, in, out, NULL, NULL, &error), KELVIN_ERROR_FEATURE, input);
  expect("removed", kelvin_features_remove(in, input, &error), KELVIN_OK, NULL);
  expect("nothing given", kelvin_predict(model, in, out, NULL, NULL, &error), KELVIN_ERROR_FEATURE, "no value was given");
  given = array(pixels, KELVIN_FLOAT32, 4, shape4);
  expect("an array is passed again", kelvin_features_set_array(in, input, &given, &error), KELVIN_OK, NULL);
  const int64_t row[] = {1, 9};
  kelvin_array result = array(scores, KELVIN_FLOAT32, 2, row);
  expect("an output of another shape", kelvin_features_set_array(out, "probabilities", &result, &error), KELVIN_OK, NULL);
  expect("written to it", kelvin_predict(model, in, out, NULL, NULL, &error), KELVIN_ERROR_FEATURE, "probabilities");
  double number;
  expect("no such feature", kelvin_features_get_double(in, "nothing", &number, &error), KELVIN_ERROR_FEATURE,
         "there is no feature 'nothing'");
  expect("of another kind", kelvin_features_get_double(in, input, &number, &error), KELVIN_ERROR_FEATURE,
         "expected a number");
  const kelvin_array *several;
  size_t count;
  given = array(pixels, KELVIN_FLOAT32, 4, negative);
  expect("arrays in a row", kelvin_features_set_arrays(in, "x", &given, 1, &error), KELVIN_ERROR_FEATURE, "at least 0");
  expect("no arrays", kelvin_features_set_arrays(in, "x", NULL, 1, &error), KELVIN_ERROR_HANDLE, "'arrays' is NULL");
  expect("one array", kelvin_features_get_arrays(in, input, &several, &count, &error), KELVIN_ERROR_FEATURE,
         "expected a sequence of arrays");
  kelvin_image_buffer image = {pixels, KELVIN_GRAY8, 0, 5, 0};
  expect("no pixels", kelvin_features_set_image(in, "x", &image, 1, KELVIN_FIT_EXACT, &error), KELVIN_ERROR_FEATURE,
         "not an image");
  image.width = 5;
  expect("orientation", kelvin_features_set_image(in, "x", &image, 9, 0, &error), KELVIN_ERROR_PARAMETERS, "1 to 8");
  expect("fit", kelvin_features_set_image(in, "x", &image, 1, 17, &error), KELVIN_ERROR_PARAMETERS, "from 0 to 3");
  expect("image file", kelvin_features_set_image_file(in, "x", "/nowhere.png", 1, &error), KELVIN_ERROR_IO, "nowhere");
  kelvin_features_release(in);
  kelvin_features_release(out);
}

static void texts(void) {
  kelvin_features *features = kelvin_features_new();
  const char *six[] = {"a", "b", "", "d", "e", "f"}, *none[] = {"a", NULL}, *const *found;
  const int64_t matrix[] = {2, 3}, negative[] = {2, -3}, huge[] = {INT64_MAX, 3}, *shape;
  size_t count, rank;
  expect("negative sizes of strings", kelvin_features_set_text_array(features, "x", six, negative, 2, &error),
         KELVIN_ERROR_FEATURE, "at least 0");
  expect("huge sizes of strings", kelvin_features_set_text_array(features, "x", six, huge, 2, &error), KELVIN_ERROR_FEATURE,
         "fit memory");
  expect("NULL sizes of strings", kelvin_features_set_text_array(features, "x", six, NULL, 2, &error), KELVIN_ERROR_HANDLE,
         "'shape' is NULL");
  expect("a NULL string", kelvin_features_set_text_array(features, "x", none, matrix, 1, &error), KELVIN_ERROR_HANDLE,
         "'values' is NULL");
  expect("strings", kelvin_features_set_text_array(features, "x", six, matrix, 2, &error), KELVIN_OK, NULL);
  expect("strings again", kelvin_features_get_strings(features, "x", &found, &count, &shape, &rank, &error), KELVIN_OK, NULL);
  if (count != 6 || rank != 2 || shape[0] != 2 || shape[1] != 3 || strcmp(found[5], "f") || strcmp(found[2], "")) {
    failures++;
    printf("strings [2x3] came back as %zu of rank %zu\n", count, rank);
  }
  expect("one string", kelvin_features_set_text_array(features, "x", six, NULL, 0, &error), KELVIN_OK, NULL);
  expect("its sizes", kelvin_features_get_strings(features, "x", &found, &count, &shape, &rank, &error), KELVIN_OK, NULL);
  if (count != 1 || rank != 0) failures++, printf("a string came back as %zu of rank %zu\n", count, rank);
  expect("nowhere for sizes", kelvin_features_get_strings(features, "x", &found, &count, NULL, &rank, &error),
         KELVIN_ERROR_HANDLE, "'shape' is NULL");
  expect("a number", kelvin_features_set_int64(features, "x", 1, &error), KELVIN_OK, NULL);
  expect("strings of a number", kelvin_features_get_strings(features, "x", &found, &count, &shape, &rank, &error),
         KELVIN_ERROR_FEATURE, "expected strings");
  kelvin_features_release(features);
}

// Whether a string has these bytes and a zero behind them.
static bool is(kelvin_text text, const char *bytes, size_t count) {
  return text.count == count && !memcmp(text.bytes, bytes, count) && !text.bytes[count];
}

static void texts_with_zero_bytes(void) {
  kelvin_features *features = kelvin_features_new();
  const kelvin_text whole = {"a\0b", 3}, strange = {"a\xff", 2}, nowhere = {NULL, 1}, *found;
  const kelvin_text four[] = {{"\0", 1}, {NULL, 0}, {"\xc3\xa9\0", 3}, {"a", 1}};
  const int64_t square[] = {2, 2}, row[] = {4}, huge[] = {INT64_MAX, 4}, *shape;
  const double numbers[] = {1, 2, 3, 4}, *values;
  const char *cut = NULL, *const *several = NULL;
  size_t count, rank;
  kelvin_text text;
  bool is_numbered;
  char *json = NULL;
  expect("a string", kelvin_features_set_text(features, "x", &whole, &error), KELVIN_OK, NULL);
  expect("it again", kelvin_features_get_text(features, "x", &text, &error), KELVIN_OK, NULL);
  if (!is(text, "a\0b", 3)) failures++, printf("a string of 3 bytes came back as %zu\n", text.count);
  expect("it without its length", kelvin_features_get_string(features, "x", &cut, &error), KELVIN_ERROR_FEATURE,
         "got one after 1 of 3 bytes; kelvin_features_get_text returns it with its length");
  if (cut) failures++, printf("a call that failed wrote a string\n");
  expect("it as JSON", kelvin_features_get_json(features, "x", &json, &error), KELVIN_OK, NULL);
  if (!json || strcmp(json, "\"a\\u0000b\"")) failures++, printf("a string came back in JSON as %s\n", json);
  kelvin_free(json);
  expect("a string that is not UTF-8", kelvin_features_set_text(features, "x", &strange, &error), KELVIN_ERROR_PARAMETERS,
         "not UTF-8");
  expect("bytes nowhere", kelvin_features_set_text(features, "x", &nowhere, &error), KELVIN_ERROR_HANDLE,
         "'value.bytes' is NULL");
  expect("no string", kelvin_features_set_text(features, "x", NULL, &error), KELVIN_ERROR_HANDLE, "'value' is NULL");
  expect("nowhere for it", kelvin_features_get_text(features, "x", NULL, &error), KELVIN_ERROR_HANDLE, "'value' is NULL");
  expect("strings of a string", kelvin_features_get_texts(features, "x", &found, &count, &shape, &rank, &error),
         KELVIN_ERROR_FEATURE, "expected strings");

  expect("strings", kelvin_features_set_texts(features, "x", four, square, 2, &error), KELVIN_OK, NULL);
  expect("them again", kelvin_features_get_texts(features, "x", &found, &count, &shape, &rank, &error), KELVIN_OK, NULL);
  if (count != 4 || rank != 2 || shape[0] != 2 || shape[1] != 2 || !is(found[0], "\0", 1) || !is(found[1], "", 0) ||
      !is(found[2], "\xc3\xa9\0", 3) || !is(found[3], "a", 1)) {
    failures++;
    printf("strings [2x2] came back as %zu of rank %zu\n", count, rank);
  }
  expect("them without lengths", kelvin_features_get_strings(features, "x", &several, &count, &shape, &rank, &error),
         KELVIN_ERROR_FEATURE, "kelvin_features_get_texts returns it with its length");
  expect("a string of strings", kelvin_features_get_text(features, "x", &text, &error), KELVIN_ERROR_FEATURE, "expected a string");
  expect("strings in a row", kelvin_features_set_texts(features, "x", four, row, 1, &error), KELVIN_OK, NULL);
  expect("too many", kelvin_features_set_texts(features, "x", four, huge, 2, &error), KELVIN_ERROR_FEATURE, "fit memory");
  expect("no strings", kelvin_features_set_texts(features, "x", NULL, row, 1, &error), KELVIN_ERROR_HANDLE,
         "'values' is NULL");
  expect("a string nowhere", kelvin_features_set_texts(features, "x", &nowhere, NULL, 0, &error), KELVIN_ERROR_HANDLE,
         "'values.bytes' is NULL");

  expect("keys", kelvin_features_set_text_dictionary(features, "x", four, numbers, 4, &error), KELVIN_OK, NULL);
  expect("keys again", kelvin_features_get_text_dictionary(features, "x", &found, &values, &count, &is_numbered, &error),
         KELVIN_OK, NULL);
  if (count != 4 || is_numbered || !is(found[0], "a", 1) || values[0] != 4 || !is(found[1], "\xc3\xa9\0", 3) ||
      !is(found[2], "", 0) || !is(found[3], "\0", 1) || values[3] != 1) {
    failures++;
    printf("a dictionary of 4 came back with %zu\n", count);
  }
  expect("keys without lengths",
         kelvin_features_get_dictionary(features, "x", &several, &values, &count, &is_numbered, &error),
         KELVIN_ERROR_FEATURE, "kelvin_features_get_text_dictionary returns it with its length");
  expect("no keys", kelvin_features_set_text_dictionary(features, "x", NULL, numbers, 4, &error), KELVIN_ERROR_HANDLE,
         "'keys' is NULL");
  const kelvin_text twice[] = {{"a\0", 2}, {"a\0", 2}};
  expect("a key twice", kelvin_features_set_text_dictionary(features, "x", twice, numbers, 2, &error),
         KELVIN_ERROR_FEATURE, "once");
  if (several) failures++, printf("a call that failed wrote strings\n");

  expect("a string that ends", kelvin_features_set_string(features, "x", "abc", &error), KELVIN_OK, NULL);
  expect("and its length", kelvin_features_get_text(features, "x", &text, &error), KELVIN_OK, NULL);
  if (!is(text, "abc", 3)) failures++, printf("a string of 3 bytes came back as %zu\n", text.count);
  kelvin_features_release(features);
}

// A model whose output has a zero byte in its name: its bytes are those of a file, but for that.
static void names_with_zero_bytes(const char *path) {
  static char bytes[1 << 20];
  FILE *file = fopen(path, "rb");
  size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);
  static const char name[] = "probabilities";
  for (char *place = bytes; (place = memmem(place, bytes + count - place, name, strlen(name))); place[4] = 0) {}
  static float pixels[3 * 64 * 64];
  kelvin_array given = array(pixels, KELVIN_FLOAT32, 4, shape4);
  kelvin_features *inputs = kelvin_features_new(), *outputs = kelvin_features_new();
  kelvin_model *model = NULL;
  const char *const *names = NULL;
  expect("loading", kelvin_model_load_bytes(bytes, count, NULL, 0, NULL, NULL, &model, &error), KELVIN_OK, NULL);
  expect("an array is passed", kelvin_features_set_array(inputs, "image", &given, &error), KELVIN_OK, NULL);
  expect("predicting", kelvin_predict(model, inputs, outputs, NULL, NULL, &error), KELVIN_OK, NULL);
  expect("names", kelvin_features_names(outputs, &names, &count, &error), KELVIN_ERROR_FEATURE, "rename it in the model");
  if (names) failures++, printf("a call that failed wrote names\n");
  kelvin_features_release(inputs);
  kelvin_features_release(outputs);
  kelvin_model_release(model);
}

static void arrays(kelvin_model *model) {
  static float pixels[3 * 64 * 64], scores[10], more[10];
  const int64_t row[] = {1, 10}, short_row[] = {1, 9};
  const char *image[] = {"image", "image"}, *probabilities[] = {"probabilities", "probabilities"}, *nothing[] = {NULL};
  const char *photo[] = {"photo"}, *bytes[] = {"\xff"};
  kelvin_array in[] = {array(pixels, KELVIN_FLOAT32, 4, shape4), array(pixels, KELVIN_FLOAT32, 4, shape4)};
  kelvin_array out[] = {array(scores, KELVIN_FLOAT32, 2, row), array(more, KELVIN_FLOAT32, 2, row)};
#define CALL(in_names, in, in_count, out_names, out, out_count) \
  kelvin_predict_arrays(model, in_names, in, in_count, out_names, out, out_count, NULL, NULL, &error)
  expect("arrays", CALL(image, in, 1, probabilities, out, 1), KELVIN_OK, NULL);
  float sum = 0;
  for (int i = 0; i < 10; i++) sum += scores[i];
  if (sum < 0.99f || sum > 1.01f) failures++, printf("probabilities of arrays sum to %f\n", (double)sum);
  expect("no outputs wanted", CALL(image, in, 1, NULL, NULL, 0), KELVIN_OK, NULL);
  expect("no inputs", CALL(NULL, NULL, 0, probabilities, out, 1), KELVIN_ERROR_FEATURE, "no value was given");
  expect("NULL names", CALL(NULL, in, 1, probabilities, out, 1), KELVIN_ERROR_HANDLE, "'input_names' is NULL");
  expect("a NULL name", CALL(nothing, in, 1, probabilities, out, 1), KELVIN_ERROR_HANDLE, "'input_names' is NULL");
  expect("NULL arrays", CALL(image, in, 1, probabilities, NULL, 1), KELVIN_ERROR_HANDLE, "'outputs' is NULL");
  expect("names that are not UTF-8", CALL(bytes, in, 1, probabilities, out, 1), KELVIN_ERROR_PARAMETERS, "not UTF-8");
  expect("an unknown input", CALL(photo, in, 1, probabilities, out, 1), KELVIN_ERROR_FEATURE, "photo");
  expect("an unknown output", CALL(image, in, 1, photo, out, 1), KELVIN_ERROR_FEATURE, "no output 'photo'");
  expect("an input twice", CALL(image, in, 2, probabilities, out, 1), KELVIN_ERROR_FEATURE, "given twice");
  expect("an output twice", CALL(image, in, 1, probabilities, out, 2), KELVIN_ERROR_FEATURE, "given twice");
  out[0] = array(scores, KELVIN_FLOAT32, 2, short_row);
  expect("another shape", CALL(image, in, 1, probabilities, out, 1), KELVIN_ERROR_FEATURE, "probabilities");
  out[0] = array(scores, KELVIN_INT32, 2, row);
  expect("another type", CALL(image, in, 1, probabilities, out, 1), KELVIN_ERROR_FEATURE, "probabilities");
  expect("no count", CALL(image, in, SIZE_MAX, probabilities, out, 1), KELVIN_ERROR_HANDLE, "do not fit memory");
#undef CALL
}

static void children(kelvin_model *model) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    char *text = NULL;
    kelvin_code code = kelvin_model_description(model, &text, &error);
    _exit(code == KELVIN_ERROR_HANDLE && strstr(error, "forked") ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) failures++, printf("a forked child was not refused: %d\n", status);
}

static kelvin_model *shared;

// Loads, predicts and releases while other threads do the same.
static void *work(void *argument) {
  (void)argument;
  float pixels[3 * 64 * 64] = {0};
  for (int i = 0; i < 50; i++) {
    kelvin_features *in = kelvin_features_new(), *out = kelvin_features_new();
    kelvin_array given = array(pixels, KELVIN_FLOAT32, 4, shape4);
    if (kelvin_features_set_array(in, "image", &given, NULL) || kelvin_predict(shared, in, out, NULL, NULL, NULL))
      __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    kelvin_features_release(in);
    kelvin_features_release(out);
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 3) return 64;
  kelvin_model *model = NULL, *network = NULL;
  expect("loading", kelvin_model_load(arguments[1], NULL, NULL, &model, &error), KELVIN_OK, NULL);
  expect("loading", kelvin_model_load(arguments[2], NULL, NULL, &network, &error), KELVIN_OK, NULL);
  handles(model);
  options(arguments[1]);
  models();
  shapes(network, "image");
  texts();
  texts_with_zero_bytes();
  names_with_zero_bytes(arguments[2]);
  arrays(network);
  shared = network;
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  children(model);
  kelvin_model_release(model);
  char *text = NULL;
  expect("a released model", kelvin_model_plan(model, &text, &error), KELVIN_ERROR_HANDLE, "released");
  kelvin_model_release(network);
  printf("%d failures\n", failures);
  return failures != 0;
}
