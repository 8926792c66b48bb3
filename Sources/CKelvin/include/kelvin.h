/// Kelvin's C interface: run Core ML and ONNX models, and ask where each layer runs and what it costs.
///
/// Every function that can fail answers with a `kelvin_code`, `KELVIN_OK` where it did not, and writes what went wrong
/// with its remedy to `*error`, a string that `kelvin_free` frees. `error` may be NULL. Nothing else that a function
/// writes to has been touched where it failed, but for memory that was lent for outputs.
///
/// A handle is a number that looks like a pointer and points nowhere. NULL, a handle that was released and one of
/// another kind are answered with `KELVIN_ERROR_HANDLE`. Releasing NULL does nothing, releasing twice neither.
///
/// Threads: every function may be called from any thread. A model, options and a cancellation serve any number of threads
/// at once. Features serve one call that changes them at a time, and none beside it; any number may read them. A state
/// serves one prediction at a time, and a second is answered with `KELVIN_ERROR_PARAMETERS`. Kelvin starts threads of
/// its own, so a process that forks uses it in the child only if it did not in the parent before: the child's calls are
/// answered with `KELVIN_ERROR_HANDLE`.
///
/// Strings are UTF-8. A `const char *` ends at its first zero byte; a `kelvin_text` has its length, and zero bytes may be in
/// it. Strings that are values, and keys of dictionaries, are set and got as either; names and paths are `const char *` alone.
/// A string with a zero byte is never given as a `const char *`, which would lack its end: that call is answered with
/// `KELVIN_ERROR_FEATURE`.
#ifndef KELVIN_H
#define KELVIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which interface this header declares. It grows with every addition; nothing is ever taken out under one soname.
#define KELVIN_ABI_VERSION 7

/// Which interface the library has: what was built with a header of a later one must not call it.
int32_t kelvin_abi_version(void);
/// The library's version, `1.2.3`. It belongs to the library.
const char *kelvin_version(void);

// MARK: Codes

/// How a call ended.
typedef int32_t kelvin_code;
enum {
  KELVIN_OK = 0,
  /// A file cannot be read, or is not what it claims to be.
  KELVIN_ERROR_IO = 1,
  /// The model needs something that Kelvin does not have.
  KELVIN_ERROR_UNSUPPORTED = 2,
  /// A feature is missing, unknown, or of the wrong type, shape or size.
  KELVIN_ERROR_FEATURE = 3,
  /// What was asked for does not fit the model or the machine, or means nothing.
  KELVIN_ERROR_PARAMETERS = 4,
  /// A device is absent or failed.
  KELVIN_ERROR_DEVICE = 5,
  /// It was cancelled.
  KELVIN_ERROR_CANCELLED = 6,
  /// The model reached a limit of time or memory that was set for it.
  KELVIN_ERROR_LIMIT = 7,
  /// A fault of Kelvin's own, or of the machine: a full disk.
  KELVIN_ERROR_GENERIC = 8,
  /// A handle is NULL, was released, is of another kind, or belongs to the process that this one was forked from; or a
  /// pointer that has to point somewhere is NULL.
  KELVIN_ERROR_HANDLE = 9,
};

/// Frees a string that the library wrote: an error, a document. NULL is allowed.
void kelvin_free(char *text);

// MARK: Options

/// How models are loaded, planned and measured.
typedef struct kelvin_options kelvin_options;

/// Options with Kelvin's defaults. Never NULL.
kelvin_options *kelvin_options_new(void);
/// Sets one option, by the name and the words that it has on the command line, without the dashes:
///
///     units               all, cpu-only, cpu-and-gpu, cpu-and-neural-engine, or devices: cpu,vulkan:0
///     precision           automatic, full, high, low
///     goal                latency, one-shot, throughput, sustained
///     tuning              automatic, exhaustive, off
///     runs trips envelope threads function part exclude device-timeout plan profile cache-dir reshape-frequency
///     pin                 NODE=DEVICE
///     shape               NAME=1x3x224x224
///     strict deterministic allow-links no-cache plan-every-size     true or false
///     max-seconds max-memory                                        seconds; bytes
///
/// `pin`, `shape` and `exclude` add to what was set before.
///
/// - Returns: `KELVIN_ERROR_PARAMETERS` for a name that there is not, or words that mean nothing.
kelvin_code kelvin_options_set(kelvin_options *options, const char *name, const char *value, char **error);
void kelvin_options_release(kelvin_options *options);

// MARK: Cancellation

/// What ends calls that are under way, from another thread.
typedef struct kelvin_cancellation kelvin_cancellation;

/// Never NULL.
kelvin_cancellation *kelvin_cancellation_new(void);
/// Ends every call that was given it, now and later, with `KELVIN_ERROR_CANCELLED`.
kelvin_code kelvin_cancellation_cancel(kelvin_cancellation *cancellation, char **error);
/// Calls under way keep what they were given.
void kelvin_cancellation_release(kelvin_cancellation *cancellation);

// MARK: Models

/// A model, loaded, placed on devices and ready to predict.
typedef struct kelvin_model kelvin_model;

/// Loads an `.mlpackage`, `.mlmodelc`, `.mlmodel` or `.onnx` and compiles it. The file must stay as it is while the model
/// lives.
///
/// An ONNX model that leaves sizes of its inputs open, other than the batch, is compiled for what it first predicts from,
/// unless the option `shape` says them; until then it has a description, and neither a plan nor states.
///
/// - Parameters:
///   - path: bytes that the file system knows, in any encoding.
///   - options, cancellation: NULL for none.
kelvin_code kelvin_model_load(
  const char *path, kelvin_options *options, kelvin_cancellation *cancellation, kelvin_model **model, char **error);
/// A file that a model in memory names, by its path from the model: `weights/weight.bin` of an ML Program.
typedef struct kelvin_file {
  const char *path;
  const void *bytes;
  size_t count;
} kelvin_file;
/// Loads a model from memory, which is copied: the bytes of an `.mlmodel` or `.onnx` file, or of an ML Program's
/// specification, and the files that it names.
kelvin_code kelvin_model_load_bytes(
  const void *bytes, size_t count, const kelvin_file *files, size_t file_count, kelvin_options *options,
  kelvin_cancellation *cancellation, kelvin_model **model, char **error);
/// What the model takes, gives and remembers, as JSON: features with their types, shapes, element types, allowed sizes
/// and defaults; labels and metadata.
kelvin_code kelvin_model_description(kelvin_model *model, char **json, char **error);
/// Which device runs each layer, what it costs there and elsewhere, and why: the JSON of `kelvin plan --json`.
kelvin_code kelvin_model_plan(kelvin_model *model, char **json, char **error);
/// The same as a page that stands by itself.
kelvin_code kelvin_model_plan_html(kelvin_model *model, char **html, char **error);
/// What should be known once of how the model was loaded and runs, a JSON array of strings.
kelvin_code kelvin_model_remarks(kelvin_model *model, char **json, char **error);
/// Predictions under way end as they would have. States and features stay.
void kelvin_model_release(kelvin_model *model);

// MARK: Features

/// The type of an array's elements.
typedef int32_t kelvin_type;
enum {
  KELVIN_FLOAT64 = 1,
  KELVIN_FLOAT32 = 2,
  KELVIN_FLOAT16 = 3,
  KELVIN_INT64 = 4,
  KELVIN_INT32 = 5,
  KELVIN_INT16 = 6,
  KELVIN_INT8 = 7,
  KELVIN_UINT64 = 8,
  KELVIN_UINT32 = 9,
  KELVIN_UINT16 = 10,
  KELVIN_UINT8 = 11,
  /// A byte an element, 0 or 1.
  KELVIN_BOOL = 12,
};

/// An array in memory.
typedef struct kelvin_array {
  /// The first element, at an address that its size divides.
  void *data;
  kelvin_type type;
  int32_t rank;
  /// `rank` sizes, outermost first.
  const int64_t *shape;
  /// Elements from one position to the next along each dimension, at least 0; NULL for dense and row-major.
  const int64_t *strides;
} kelvin_array;

/// A string with its length. It, and the functions that take or give one, are of interface 6 and later.
typedef struct kelvin_text {
  /// UTF-8; NULL is allowed where there are none. What the library gives has a zero byte behind it that is not counted.
  const char *bytes;
  size_t count;
} kelvin_text;

/// How pixels are stored: sRGB, alpha not premultiplied. Floating-point channels are 0 to 1. Those after `KELVIN_GRAY8` are of
/// interface 4 and later.
typedef int32_t kelvin_pixels;
enum {
  /// 8 bits a channel.
  KELVIN_RGB8 = 1,
  KELVIN_RGBA8 = 2,
  KELVIN_BGRA8 = 3,
  KELVIN_GRAY8 = 4,
  KELVIN_ARGB8 = 5,
  /// float16 and float32.
  KELVIN_GRAY16_HALF = 6,
  KELVIN_GRAY32_FLOAT = 7,
  KELVIN_RGBA16_HALF = 8,
  KELVIN_RGBA32_FLOAT = 9,
  /// A frame of video in two planes, `420f`: luma, a byte a pixel, and chroma, a pair of blue and red for every two by two
  /// pixels, the last of an odd width or height for what is left. All of 0 to 255, by Rec. 601.
  KELVIN_YCBCR601_FULL = 10,
  /// The same as `420v`: luma is 16 to 235, chroma 16 to 240.
  KELVIN_YCBCR601_VIDEO = 11,
  /// `420f` and `420v` by Rec. 709, as most frames of high definition are.
  KELVIN_YCBCR709_FULL = 12,
  KELVIN_YCBCR709_VIDEO = 13,
};

/// An image in memory: of 8 bits a channel, which all lie in one plane. `kelvin_frame` has the others.
typedef struct kelvin_image_buffer {
  void *data;
  kelvin_pixels format;
  /// In pixels.
  int32_t width, height;
  /// Bytes from one row to the next; 0 for rows without gaps.
  int64_t bytes_per_row;
} kelvin_image_buffer;

/// Rows of an image in memory, which are only read.
typedef struct kelvin_plane {
  /// The first row, at the top.
  const void *data;
  /// From one row to the next; 0 for rows without gaps.
  int64_t bytes_per_row;
} kelvin_plane;

/// An image in memory as cameras and decoders of video have it, in any format, which is only read.
typedef struct kelvin_frame {
  kelvin_pixels format;
  /// In pixels.
  int32_t width, height;
  /// Luma before chroma. Where all lies in one plane, the second one's `data` is NULL.
  kelvin_plane planes[2];
} kelvin_frame;

/// How an image is brought to the size that the model takes.
typedef int32_t kelvin_fit;
enum {
  /// It has that size already, else it is an error.
  KELVIN_FIT_EXACT = 0,
  KELVIN_FIT_CENTER_CROP = 1,
  KELVIN_FIT_SCALE_FIT = 2,
  KELVIN_FIT_SCALE_FILL = 3,
};

/// What kind of value a feature has.
typedef int32_t kelvin_kind;
enum {
  KELVIN_KIND_NONE = 0,
  KELVIN_KIND_ARRAY = 1,
  KELVIN_KIND_IMAGE = 2,
  KELVIN_KIND_INT64 = 3,
  KELVIN_KIND_DOUBLE = 4,
  KELVIN_KIND_STRING = 5,
  /// Numbers by string or by whole number.
  KELVIN_KIND_DICTIONARY = 6,
  /// Strings, whole numbers, dictionaries or arrays in a row.
  KELVIN_KIND_SEQUENCE = 7,
};

/// Values by name: what a prediction is given, and what it gives.
typedef struct kelvin_features kelvin_features;

/// Features without values. Never NULL.
kelvin_features *kelvin_features_new(void);

/// Lends an array, of which nothing is copied: it stays valid until the feature has another value, or the features are
/// released, and no prediction uses it. As an input it is read. As an output it is written, and has the output's type
/// and shape.
kelvin_code kelvin_features_set_array(
  kelvin_features *features, const char *name, const kelvin_array *array, char **error);
/// Lends an image in the same way. As an output it is written, and has the output's size.
///
/// - Parameter orientation: how the stored pixels are turned, as EXIF numbers it, 1 to 8; 1 or 0 for upright.
kelvin_code kelvin_features_set_image(
  kelvin_features *features, const char *name, const kelvin_image_buffer *image, int32_t orientation, kelvin_fit fit,
  char **error);
/// Lends an image of any format to an input, in the same way; it is read as it is predicted from.
///
/// - Returns: `KELVIN_ERROR_FEATURE` for a size that no image has, rows that overlap, and a second plane where the format has
///   one; `KELVIN_ERROR_HANDLE` for a plane that is NULL.
kelvin_code kelvin_features_set_frame(
  kelvin_features *features, const char *name, const kelvin_frame *frame, int32_t orientation, kelvin_fit fit,
  char **error);
/// An image file, decoded by libvips and turned upright as it says.
kelvin_code kelvin_features_set_image_file(
  kelvin_features *features, const char *name, const char *path, kelvin_fit fit, char **error);
kelvin_code kelvin_features_set_int64(kelvin_features *features, const char *name, int64_t value, char **error);
kelvin_code kelvin_features_set_double(kelvin_features *features, const char *name, double value, char **error);
/// - Parameter value: UTF-8, copied.
kelvin_code kelvin_features_set_string(
  kelvin_features *features, const char *name, const char *value, char **error);
/// Numbers by strings (UTF-8, copied), of which each comes once.
kelvin_code kelvin_features_set_dictionary(
  kelvin_features *features, const char *name, const char *const *keys, const double *values, size_t count,
  char **error);
/// Numbers by whole numbers, of which each comes once.
kelvin_code kelvin_features_set_numbered(
  kelvin_features *features, const char *name, const int64_t *keys, const double *values, size_t count, char **error);
/// Strings in a row.
kelvin_code kelvin_features_set_strings(
  kelvin_features *features, const char *name, const char *const *values, size_t count, char **error);
/// Strings in an array, row-major, as many as its sizes say. Of interface 5 and later.
kelvin_code kelvin_features_set_text_array(
  kelvin_features *features, const char *name, const char *const *values, const int64_t *shape, size_t rank,
  char **error);
/// A string, copied, that may hold zero bytes.
kelvin_code kelvin_features_set_text(
  kelvin_features *features, const char *name, const kelvin_text *value, char **error);
/// Strings in an array, row-major, as many as its sizes say, or in a row: an array of one size.
kelvin_code kelvin_features_set_texts(
  kelvin_features *features, const char *name, const kelvin_text *values, const int64_t *shape, size_t rank,
  char **error);
/// Numbers by strings, of which each comes once.
kelvin_code kelvin_features_set_text_dictionary(
  kelvin_features *features, const char *name, const kelvin_text *keys, const double *values, size_t count,
  char **error);
/// Whole numbers in a row.
kelvin_code kelvin_features_set_int64s(
  kelvin_features *features, const char *name, const int64_t *values, size_t count, char **error);
/// Arrays in a row, each of a shape of its own. They are lent as one array is.
kelvin_code kelvin_features_set_arrays(
  kelvin_features *features, const char *name, const kelvin_array *arrays, size_t count, char **error);
/// Takes a feature's value away; nothing where it has none.
kelvin_code kelvin_features_remove(kelvin_features *features, const char *name, char **error);

/// The names of the features that have a value, sorted: `count` strings that belong to the features, and stay until these
/// are changed, predicted into or released.
///
/// - Returns: `KELVIN_ERROR_FEATURE` where a model gave a feature a name with a zero byte, by which C cannot ask for it.
kelvin_code kelvin_features_names(
  kelvin_features *features, const char *const **names, size_t *count, char **error);
/// What kind of value a feature has; `KELVIN_KIND_NONE` for one without.
kelvin_code kelvin_features_kind(kelvin_features *features, const char *name, kelvin_kind *kind, char **error);
/// A feature's array where it lies, and its shape and strides: all of it stays until the features are changed,
/// predicted into or released.
kelvin_code kelvin_features_get_array(
  kelvin_features *features, const char *name, kelvin_array *array, char **error);
/// A feature's arrays, in the same way.
kelvin_code kelvin_features_get_arrays(
  kelvin_features *features, const char *name, const kelvin_array **arrays, size_t *count, char **error);
/// A feature's image, in the same way. It is not to be written to.
///
/// - Returns: `KELVIN_ERROR_FEATURE` for one that is not of 8 bits a channel: `kelvin_features_get_frame` has that.
kelvin_code kelvin_features_get_image(
  kelvin_features *features, const char *name, kelvin_image_buffer *image, char **error);
/// A feature's image of any format, in the same way.
kelvin_code kelvin_features_get_frame(
  kelvin_features *features, const char *name, kelvin_frame *frame, char **error);
kelvin_code kelvin_features_get_int64(kelvin_features *features, const char *name, int64_t *value, char **error);
kelvin_code kelvin_features_get_double(kelvin_features *features, const char *name, double *value, char **error);
/// A string that stays until the features are changed, predicted into or released.
///
/// - Returns: `KELVIN_ERROR_FEATURE` for one with a zero byte: `kelvin_features_get_text` has that.
kelvin_code kelvin_features_get_string(
  kelvin_features *features, const char *name, const char **value, char **error);
/// Strings in an array or in a row, row-major, and the sizes of the array, of a row one: `count` strings that stay until the
/// features are changed, predicted into or released. Of interface 5 and later.
///
/// - Returns: `KELVIN_ERROR_FEATURE` where one has a zero byte: `kelvin_features_get_texts` has these.
kelvin_code kelvin_features_get_strings(
  kelvin_features *features, const char *name, const char *const **values, size_t *count, const int64_t **shape,
  size_t *rank, char **error);
/// A dictionary by the falling order of its values: strings, or whole numbers in digits, in `*keys`, and their numbers. All
/// stays until the features are changed, predicted into or released.
///
/// - Returns: `KELVIN_ERROR_FEATURE` where a key has a zero byte: `kelvin_features_get_text_dictionary` has these.
kelvin_code kelvin_features_get_dictionary(
  kelvin_features *features, const char *name, const char *const **keys, const double **values, size_t *count,
  bool *is_numbered, char **error);
/// A string with its length, as `kelvin_features_get_string` gives it without.
kelvin_code kelvin_features_get_text(
  kelvin_features *features, const char *name, kelvin_text *value, char **error);
/// Strings with their lengths, as `kelvin_features_get_strings` gives them without.
kelvin_code kelvin_features_get_texts(
  kelvin_features *features, const char *name, const kelvin_text **values, size_t *count, const int64_t **shape,
  size_t *rank, char **error);
/// A dictionary whose keys have their lengths, otherwise as `kelvin_features_get_dictionary` gives it.
kelvin_code kelvin_features_get_text_dictionary(
  kelvin_features *features, const char *name, const kelvin_text **keys, const double **values, size_t *count,
  bool *is_numbered, char **error);
/// Any value but arrays, rows of them and images as JSON: numbers, strings, dictionaries, other sequences. An array of strings
/// is lists in lists, one of no axes a string.
kelvin_code kelvin_features_get_json(kelvin_features *features, const char *name, char **json, char **error);
void kelvin_features_release(kelvin_features *features);

// MARK: States

/// What a stateful model remembers between predictions. Zeros when it is made.
typedef struct kelvin_state kelvin_state;

/// A state of this model; of one without states, a state of nothing.
kelvin_code kelvin_state_new(kelvin_model *model, kelvin_state **state, char **error);
/// Copies one of the model's states out, into an array of its shape and type.
kelvin_code kelvin_state_read(kelvin_state *state, const char *name, const kelvin_array *array, char **error);
/// Copies an array of its shape and type into one of the model's states.
kelvin_code kelvin_state_write(kelvin_state *state, const char *name, const kelvin_array *array, char **error);
void kelvin_state_release(kelvin_state *state);

// MARK: Predictions

/// One prediction.
///
/// - Parameters:
///   - inputs: read; unchanged.
///   - outputs: an array or image that was set in it under an output's name is written in place; every output is in
///     it afterwards, and nothing else. May not be `inputs`.
///   - state: NULL for a model without states, or to begin from zeros and forget.
///   - cancellation: NULL for none. With one, a prediction changes threads.
kelvin_code kelvin_predict(
  kelvin_model *model, kelvin_features *inputs, kelvin_features *outputs, kelvin_state *state,
  kelvin_cancellation *cancellation, char **error);
/// One prediction of arrays alone, in one call and without features: all memory is the caller's, for the call.
///
/// - Parameters:
///   - input_names, inputs: `input_count` each, an array for each name, as `kelvin_features_set_array` takes it.
///   - output_names, outputs: `output_count` each, where those of the model's outputs are written to that are wanted.
///   - state, cancellation: as in `kelvin_predict`.
/// - Returns: `KELVIN_ERROR_FEATURE` for an input that is missing, a name that the model does not have or that comes twice,
///   and an array of another shape or type than the model takes or gives; outputs may have been written then.
kelvin_code kelvin_predict_arrays(
  kelvin_model *model, const char *const *input_names, const kelvin_array *inputs, size_t input_count,
  const char *const *output_names, const kelvin_array *outputs, size_t output_count, kelvin_state *state,
  kelvin_cancellation *cancellation, char **error);
/// Several predictions, as many at a time as the model keeps memory for.
///
/// - Parameters:
///   - inputs, outputs: `count` each, every one another. What is lent in `outputs` is not used: each has new values.
/// - Returns: how the first item that failed did; `error` names it. Outputs are as they were then.
kelvin_code kelvin_predict_batch(
  kelvin_model *model, kelvin_features *const *inputs, kelvin_features *const *outputs, size_t count,
  kelvin_cancellation *cancellation, char **error);

// MARK: Image files

/// An image that was decoded.
typedef struct kelvin_image kelvin_image;

/// Decodes an image file: JPEG, PNG, WebP, TIFF, GIF (the first frame), BMP, HEIF and AVIF where libvips has them. An embedded
/// colour profile is converted to sRGB, and what is transparent is black.
kelvin_code kelvin_image_read(const char *path, kelvin_image **image, char **error);
/// The same of a file in memory, which is read during the call alone.
kelvin_code kelvin_image_read_bytes(const void *bytes, size_t count, kelvin_image **image, char **error);
/// An image's pixels where they lie, `KELVIN_RGB8` as the file has them: they stay until the image is released.
///
/// - Parameter orientation: how they are turned, as EXIF numbers it, 1 to 8; NULL where that is not asked for.
kelvin_code kelvin_image_frame(kelvin_image *image, kelvin_frame *frame, int32_t *orientation, char **error);
void kelvin_image_release(kelvin_image *image);
/// Encodes an image of any format, as it is to be seen: no orientation is written.
///
/// - Parameters:
///   - encoding: `png`, lossless with grey and alpha kept, or `jpeg`, without alpha.
///   - quality: of JPEG, 1 to 100; 0 for 90, and for PNG.
///   - bytes, count: the file, which `kelvin_free` frees.
kelvin_code kelvin_frame_encode(
  const kelvin_frame *frame, const char *encoding, int32_t quality, char **bytes, size_t *count, char **error);

// MARK: Former names, which stay as long as the soname does

/// Deprecated: use `kelvin_image_buffer`.
typedef kelvin_image_buffer kelvin_picture;
enum {
  /// Deprecated: use `KELVIN_KIND_IMAGE`.
  KELVIN_KIND_PICTURE = KELVIN_KIND_IMAGE,
};
/// Deprecated: use `kelvin_features_set_image`.
kelvin_code kelvin_features_set_picture(
  kelvin_features *features, const char *name, const kelvin_image_buffer *image, int32_t orientation, kelvin_fit fit,
  char **error);
/// Deprecated: use `kelvin_features_set_image_file`.
kelvin_code kelvin_features_set_picture_file(
  kelvin_features *features, const char *name, const char *path, kelvin_fit fit, char **error);
/// Deprecated: use `kelvin_features_get_image`.
kelvin_code kelvin_features_get_picture(
  kelvin_features *features, const char *name, kelvin_image_buffer *image, char **error);

// MARK: Without a model in memory

/// The devices of this machine, and why others are absent: the JSON of `kelvin devices --json`.
kelvin_code kelvin_devices(char **json, char **error);
/// Plans a model without compiling it: the JSON of `kelvin plan --json`. `options` may be NULL.
kelvin_code kelvin_plan(const char *path, kelvin_options *options, char **json, char **error);
/// What a model file consists of, by its own names, as JSON: `{"program": {"functions": {"main": {"inputs", "block"}}}}`,
/// `{"neuralNetwork": {"layers": […]}}`, `{"pipeline": {"subModelNames", "subModels"}}` or `{"unsupported": "why"}`. A
/// program's operation has its `arguments`, `[{"name", "values"}]`, where null is a value that is written in the operation.
kelvin_code kelvin_structure(const char *path, char **json, char **error);
/// Measures every layer on every device, or on those that `units` names: the JSON of `kelvin profile --json`. What was
/// measured is kept for later plans, unless `no-cache`.
///
/// - Parameters:
///   - seconds: of measuring for each device; 0 for Kelvin's default.
///   - options, cancellation: NULL for none. What is known when it is cancelled is the answer.
kelvin_code kelvin_profile(
  const char *path, kelvin_options *options, double seconds, kelvin_cancellation *cancellation, char **json,
  char **error);
/// Compares ways to run a model: the JSON of `kelvin bench --json`.
///
/// - Parameters:
///   - workload: `one-shot`, `stream`, `throughput`, or the path of a workload's file.
///   - configurations: `count` options, one for each way; none for the CPU, each hardware device and all.
kelvin_code kelvin_bench(
  const char *path, const char *workload, kelvin_options *const *configurations, size_t count,
  kelvin_cancellation *cancellation, char **json, char **error);

#ifdef __cplusplus
}
#endif

#endif
