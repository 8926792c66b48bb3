/// Kelvin's C interface: runs Core ML and ONNX models, and reports the device and the cost of each layer.
///
/// Every function that can fail returns a `kelvin_code`, which is `KELVIN_OK` on success. On failure it writes a
/// message with a remedy to `*error`, a string that `kelvin_free` frees. `error` may be NULL. A failing function leaves
/// its other output parameters unchanged, except for the caller's output buffers.
///
/// A handle is a number of pointer type that is not a valid address. A call with NULL, a released handle or a handle of
/// another kind returns `KELVIN_ERROR_HANDLE`. Releasing NULL, or releasing a handle twice, has no effect.
///
/// Threads: every function may be called from any thread. Any number of threads can use a model, options or a
/// cancellation at once. Features must not be changed by one call while another call reads or changes them; concurrent
/// reads are allowed. A state serves one prediction at a time; a second one returns `KELVIN_ERROR_PARAMETERS`.
///
/// Kelvin starts threads of its own. A process that forks can therefore use Kelvin in the child only if the parent has
/// not used it before. Otherwise the child's calls return `KELVIN_ERROR_HANDLE`.
///
/// Strings are UTF-8. A `const char *` ends at its first zero byte; a `kelvin_text` has a length and may contain zero
/// bytes. String values and keys of dictionaries can be set and read as either type. Names and paths are `const char *`
/// only. A string with a zero byte is never returned as a `const char *`: the call returns `KELVIN_ERROR_FEATURE`.
#ifndef KELVIN_H
#define KELVIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the interface that this header declares. Every addition increments it; nothing is removed under one
/// soname.
#define KELVIN_ABI_VERSION 7

/// Returns the library's version of the interface. A program built with a header of a later version must not call the
/// library.
int32_t kelvin_abi_version(void);
/// Returns the library's version, such as `1.2.3`. The string belongs to the library.
const char *kelvin_version(void);

// MARK: Codes

/// The result of a call.
typedef int32_t kelvin_code;
enum {
  KELVIN_OK = 0,
  /// A file cannot be read, or is not a valid file of its format.
  KELVIN_ERROR_IO = 1,
  /// The model needs a feature that Kelvin does not support.
  KELVIN_ERROR_UNSUPPORTED = 2,
  /// A feature is missing, unknown, or of the wrong type, shape or size.
  KELVIN_ERROR_FEATURE = 3,
  /// The request is invalid, or does not fit the model or the machine.
  KELVIN_ERROR_PARAMETERS = 4,
  /// A device is missing or failed.
  KELVIN_ERROR_DEVICE = 5,
  /// The call was cancelled.
  KELVIN_ERROR_CANCELLED = 6,
  /// The model reached a limit of time or memory that the caller set.
  KELVIN_ERROR_LIMIT = 7,
  /// An internal error of Kelvin, or a failure of the machine such as a full disk.
  KELVIN_ERROR_GENERIC = 8,
  /// A handle is NULL, released, of another kind, or from the process that this one was forked from; or a required
  /// pointer is NULL.
  KELVIN_ERROR_HANDLE = 9,
};

/// Frees a string that the library returned, such as an error or a document. NULL is allowed.
void kelvin_free(char *text);

// MARK: Options

/// Options for loading, planning and measuring models.
typedef struct kelvin_options kelvin_options;

/// Creates options with Kelvin's defaults. Never returns NULL.
kelvin_options *kelvin_options_new(void);
/// Sets an option. Names and values are those of the command line, without the dashes:
///
///     units               all, cpu-only, cpu-and-gpu, cpu-and-neural-engine, or devices: cpu,vulkan:0
///     precision           automatic, full, low
///     goal                latency, one-shot, throughput, sustained
///     tuning isolation    automatic, exhaustive, off; none, worker
///     runs trips envelope threads function part exclude device-timeout plan profile cache-dir reshape-frequency
///     pin                 NODE=DEVICE
///     shape               NAME=1x3x224x224
///     strict deterministic allow-links no-cache no-canary plan-every-size     true or false
///     max-seconds max-memory                                        a time: 10, 500ms, 2m; bytes
///
/// `pin`, `shape` and `exclude` add to earlier values. An unknown name or an invalid value is
/// `KELVIN_ERROR_PARAMETERS`.
kelvin_code kelvin_options_set(kelvin_options *options, const char *name, const char *value, char **error);
void kelvin_options_release(kelvin_options *options);

// MARK: Cancellation

/// Cancels running calls from another thread.
typedef struct kelvin_cancellation kelvin_cancellation;

/// Creates a cancellation. Never returns NULL.
kelvin_cancellation *kelvin_cancellation_new(void);
/// Ends every call that uses the cancellation, now and later, with `KELVIN_ERROR_CANCELLED`.
kelvin_code kelvin_cancellation_cancel(kelvin_cancellation *cancellation, char **error);
/// Releases a cancellation. Running calls keep using it.
void kelvin_cancellation_release(kelvin_cancellation *cancellation);

// MARK: Models

/// A model that is loaded, placed on devices and ready to predict.
typedef struct kelvin_model kelvin_model;

/// Loads an `.mlpackage`, `.mlmodelc`, `.mlmodel` or `.onnx`, which must not change while the model exists.
///
/// An ONNX model with open input sizes, other than the batch size, is compiled for the sizes of its first inputs,
/// unless the option `shape` sets them. Until then the model has a description, but no plan and no states.
///
/// The path may have any encoding. Options and cancellation may be NULL.
kelvin_code kelvin_model_load(
  const char *path, kelvin_options *options, kelvin_cancellation *cancellation, kelvin_model **model, char **error);
/// A file that a model in memory refers to, with its path relative to the model, such as `weights/weight.bin` of an ML
/// Program.
typedef struct kelvin_file {
  const char *path;
  const void *bytes;
  size_t count;
} kelvin_file;
/// Loads a model from memory: the bytes of an `.mlmodel` or `.onnx` file, or of an ML Program's specification, and the
/// files that it refers to. All bytes are copied.
kelvin_code kelvin_model_load_bytes(
  const void *bytes, size_t count, const kelvin_file *files, size_t file_count, kelvin_options *options,
  kelvin_cancellation *cancellation, kelvin_model **model, char **error);
/// Returns a description of the model's inputs, outputs and states as JSON: features with their types, shapes, element
/// types, allowed sizes and defaults, and also labels and metadata.
kelvin_code kelvin_model_description(kelvin_model *model, char **json, char **error);
/// Returns the device of each layer, its cost on each device, and the reason: the JSON of `kelvin plan --json`.
kelvin_code kelvin_model_plan(kelvin_model *model, char **json, char **error);
/// Returns the same plan as a self-contained HTML page.
kelvin_code kelvin_model_plan_html(kelvin_model *model, char **html, char **error);
/// Returns messages for the user about loading and running the model, as a JSON array of strings.
kelvin_code kelvin_model_remarks(kelvin_model *model, char **json, char **error);
/// Checks the devices that have predicted since their latest check. Returns the numbers of predictions that may be
/// wrong, from 1 in the order of their ends, as JSON: `[[first, last], …]`. The remarks say why.
kelvin_code kelvin_model_check_devices(kelvin_model *model, char **json, char **error);
/// Releases a model. Running predictions complete. States and features stay valid.
void kelvin_model_release(kelvin_model *model);

// MARK: Features

/// The type of an array's elements.
typedef int32_t kelvin_type;
enum {
  KELVIN_FLOAT64 = 1, KELVIN_FLOAT32 = 2, KELVIN_FLOAT16 = 3,
  KELVIN_INT64 = 4, KELVIN_INT32 = 5, KELVIN_INT16 = 6, KELVIN_INT8 = 7,
  KELVIN_UINT64 = 8, KELVIN_UINT32 = 9, KELVIN_UINT16 = 10, KELVIN_UINT8 = 11,
  /// One byte per element, 0 or 1.
  KELVIN_BOOL = 12,
};

/// An array in memory.
typedef struct kelvin_array {
  /// The first element, aligned to the element's size.
  void *data;
  kelvin_type type;
  int32_t rank;
  /// `rank` sizes, outermost first.
  const int64_t *shape;
  /// The number of elements between neighboring positions along each dimension, at least 0; NULL for dense row-major
  /// order.
  const int64_t *strides;
} kelvin_array;

/// A string with its length. The type and the functions that use it require interface 6.
typedef struct kelvin_text {
  /// UTF-8; may be NULL if `count` is 0. Strings from the library have a terminating zero byte that is not counted.
  const char *bytes;
  size_t count;
} kelvin_text;

/// A pixel format: sRGB, with alpha not premultiplied. Floating-point channels range from 0 to 1. Formats after
/// `KELVIN_GRAY8` require interface 4.
typedef int32_t kelvin_pixels;
enum {
  /// 8 bits per channel.
  KELVIN_RGB8 = 1, KELVIN_RGBA8 = 2, KELVIN_BGRA8 = 3, KELVIN_GRAY8 = 4, KELVIN_ARGB8 = 5,
  /// Channels of float16 or float32.
  KELVIN_GRAY16_HALF = 6, KELVIN_GRAY32_FLOAT = 7, KELVIN_RGBA16_HALF = 8, KELVIN_RGBA32_FLOAT = 9,
  /// A video frame in two planes, `420f`: luma with one byte per pixel, and chroma with one pair of blue and red for
  /// every two by two pixels. With an odd width or height the last pair covers the remaining pixels. Full range, 0 to
  /// 255, by Rec. 601.
  KELVIN_YCBCR601_FULL = 10,
  /// `420v`: the same with luma from 16 to 235 and chroma from 16 to 240.
  KELVIN_YCBCR601_VIDEO = 11,
  /// `420f` and `420v` by Rec. 709, which most high-definition video uses.
  KELVIN_YCBCR709_FULL = 12, KELVIN_YCBCR709_VIDEO = 13,
};

/// An image in memory with 8 bits per channel in one plane. `kelvin_frame` represents other formats.
typedef struct kelvin_image_buffer {
  void *data;
  kelvin_pixels format;
  /// In pixels.
  int32_t width, height;
  /// The number of bytes between the beginnings of neighboring rows; 0 for rows without gaps.
  int64_t bytes_per_row;
} kelvin_image_buffer;

/// Rows of an image in memory, which are only read.
typedef struct kelvin_plane {
  /// The first row, which is the top row.
  const void *data;
  /// The number of bytes between the beginnings of neighboring rows; 0 for rows without gaps.
  int64_t bytes_per_row;
} kelvin_plane;

/// An image in memory in any format, such as a frame of a camera or video decoder. It is only read.
typedef struct kelvin_frame {
  kelvin_pixels format;
  /// In pixels.
  int32_t width, height;
  /// The planes, luma before chroma. The second plane's `data` is NULL for a format with one plane.
  kelvin_plane planes[2];
} kelvin_frame;

/// How an image is fitted to the model's input size.
typedef int32_t kelvin_fit;
enum {
  /// The image must already have that size.
  KELVIN_FIT_EXACT = 0,
  KELVIN_FIT_CENTER_CROP = 1, KELVIN_FIT_SCALE_FIT = 2, KELVIN_FIT_SCALE_FILL = 3,
};

/// The type of a feature's value.
typedef int32_t kelvin_kind;
enum {
  KELVIN_KIND_NONE = 0,
  KELVIN_KIND_ARRAY = 1,
  KELVIN_KIND_IMAGE = 2,
  KELVIN_KIND_INT64 = 3,
  KELVIN_KIND_DOUBLE = 4,
  KELVIN_KIND_STRING = 5,
  /// Numbers by string or integer key.
  KELVIN_KIND_DICTIONARY = 6,
  /// A sequence of strings, integers, dictionaries or arrays.
  KELVIN_KIND_SEQUENCE = 7,
};

/// A set of named values: the inputs or outputs of a prediction.
typedef struct kelvin_features kelvin_features;

/// Creates features without values. Never returns NULL.
kelvin_features *kelvin_features_new(void);

/// Sets an array without copying it. The array must stay valid until the feature has another value or the features are
/// released, and no prediction uses it. As an input it is read. As an output it is written, and must have the output's
/// type and shape.
kelvin_code kelvin_features_set_array(
  kelvin_features *features, const char *name, const kelvin_array *array, char **error);
/// Sets an image without copying it, under the same rules. As an output it is written, and must have the output's size.
///
/// - Parameter orientation: the EXIF orientation of the stored pixels, 1 to 8; 1 or 0 for upright.
kelvin_code kelvin_features_set_image(
  kelvin_features *features, const char *name, const kelvin_image_buffer *image, int32_t orientation, kelvin_fit fit,
  char **error);
/// Sets an input image of any format without copying it, under the same rules. Each prediction reads it.
///
/// - Returns: `KELVIN_ERROR_FEATURE` for an invalid size, overlapping rows, and a second plane for a format with one
///   plane; `KELVIN_ERROR_HANDLE` for a plane that is NULL.
kelvin_code kelvin_features_set_frame(
  kelvin_features *features, const char *name, const kelvin_frame *frame, int32_t orientation, kelvin_fit fit,
  char **error);
/// Sets an image from a file, decoded by libvips and turned upright by its orientation.
kelvin_code kelvin_features_set_image_file(
  kelvin_features *features, const char *name, const char *path, kelvin_fit fit, char **error);
kelvin_code kelvin_features_set_int64(kelvin_features *features, const char *name, int64_t value, char **error);
kelvin_code kelvin_features_set_double(kelvin_features *features, const char *name, double value, char **error);
/// - Parameter value: UTF-8, copied.
kelvin_code kelvin_features_set_string(
  kelvin_features *features, const char *name, const char *value, char **error);
/// Sets a dictionary with string keys (UTF-8, copied). Each key must be unique.
kelvin_code kelvin_features_set_dictionary(
  kelvin_features *features, const char *name, const char *const *keys, const double *values, size_t count,
  char **error);
/// Sets a dictionary with integer keys. Each key must be unique.
kelvin_code kelvin_features_set_numbered(
  kelvin_features *features, const char *name, const int64_t *keys, const double *values, size_t count, char **error);
/// Sets a sequence of strings.
kelvin_code kelvin_features_set_strings(
  kelvin_features *features, const char *name, const char *const *values, size_t count, char **error);
/// Sets an array of strings, row-major. The number of strings follows from the shape. Requires interface 5.
kelvin_code kelvin_features_set_text_array(
  kelvin_features *features, const char *name, const char *const *values, const int64_t *shape, size_t rank,
  char **error);
/// Sets a string that may contain zero bytes. The string is copied.
kelvin_code kelvin_features_set_text(
  kelvin_features *features, const char *name, const kelvin_text *value, char **error);
/// Sets an array of strings, row-major. The number of strings follows from the shape. For a sequence, use an array with
/// one dimension.
kelvin_code kelvin_features_set_texts(
  kelvin_features *features, const char *name, const kelvin_text *values, const int64_t *shape, size_t rank,
  char **error);
/// Sets a dictionary with string keys. Each key must be unique.
kelvin_code kelvin_features_set_text_dictionary(
  kelvin_features *features, const char *name, const kelvin_text *keys, const double *values, size_t count,
  char **error);
/// Sets a sequence of integers.
kelvin_code kelvin_features_set_int64s(
  kelvin_features *features, const char *name, const int64_t *values, size_t count, char **error);
/// Sets a sequence of arrays, which may have different shapes, without copying them. The rules of
/// `kelvin_features_set_array` apply.
kelvin_code kelvin_features_set_arrays(
  kelvin_features *features, const char *name, const kelvin_array *arrays, size_t count, char **error);
/// Removes a feature's value. Has no effect if it has none.
kelvin_code kelvin_features_remove(kelvin_features *features, const char *name, char **error);

/// Returns the sorted names of the features that have a value. The `count` strings belong to the features. They stay
/// valid until the features are changed, used as outputs of a prediction or released.
///
/// - Returns: `KELVIN_ERROR_FEATURE` if a model's feature has a name with a zero byte, which C functions cannot refer
///   to.
kelvin_code kelvin_features_names(
  kelvin_features *features, const char *const **names, size_t *count, char **error);
/// Returns the type of a feature's value; `KELVIN_KIND_NONE` for a feature without a value.
kelvin_code kelvin_features_kind(kelvin_features *features, const char *name, kelvin_kind *kind, char **error);
/// Returns a feature's array without copying it. Its data, shape and strides stay valid until the features are changed,
/// used as outputs of a prediction or released.
kelvin_code kelvin_features_get_array(
  kelvin_features *features, const char *name, kelvin_array *array, char **error);
/// Returns a feature's sequence of arrays, under the same rules.
kelvin_code kelvin_features_get_arrays(
  kelvin_features *features, const char *name, const kelvin_array **arrays, size_t *count, char **error);
/// Returns a feature's image, under the same rules. The image must not be written.
///
/// - Returns: `KELVIN_ERROR_FEATURE` for an image that does not have 8 bits per channel; `kelvin_features_get_frame`
///   returns it.
kelvin_code kelvin_features_get_image(
  kelvin_features *features, const char *name, kelvin_image_buffer *image, char **error);
/// Returns a feature's image of any format, under the same rules.
kelvin_code kelvin_features_get_frame(
  kelvin_features *features, const char *name, kelvin_frame *frame, char **error);
kelvin_code kelvin_features_get_int64(kelvin_features *features, const char *name, int64_t *value, char **error);
kelvin_code kelvin_features_get_double(kelvin_features *features, const char *name, double *value, char **error);
/// Returns a string that stays valid until the features are changed, used as outputs of a prediction or released.
///
/// - Returns: `KELVIN_ERROR_FEATURE` for a string with a zero byte; `kelvin_features_get_text` returns it.
kelvin_code kelvin_features_get_string(
  kelvin_features *features, const char *name, const char **value, char **error);
/// Returns the strings of an array or a sequence, row-major, and the array's shape; a sequence has one dimension. The
/// `count` strings stay valid until the features are changed, used as outputs of a prediction or released. Requires
/// interface 5.
///
/// - Returns: `KELVIN_ERROR_FEATURE` if a string has a zero byte; `kelvin_features_get_texts` returns it.
kelvin_code kelvin_features_get_strings(
  kelvin_features *features, const char *name, const char *const **values, size_t *count, const int64_t **shape,
  size_t *rank, char **error);
/// Returns a dictionary in descending order of its values. `*keys` are strings, or integers in digits. All pointers
/// stay valid until the features are changed, used as outputs of a prediction or released.
///
/// - Returns: `KELVIN_ERROR_FEATURE` if a key has a zero byte; `kelvin_features_get_text_dictionary` returns it.
kelvin_code kelvin_features_get_dictionary(
  kelvin_features *features, const char *name, const char *const **keys, const double **values, size_t *count,
  bool *is_numbered, char **error);
/// Returns a string with its length, otherwise like `kelvin_features_get_string`.
kelvin_code kelvin_features_get_text(
  kelvin_features *features, const char *name, kelvin_text *value, char **error);
/// Returns strings with their lengths, otherwise like `kelvin_features_get_strings`.
kelvin_code kelvin_features_get_texts(
  kelvin_features *features, const char *name, const kelvin_text **values, size_t *count, const int64_t **shape,
  size_t *rank, char **error);
/// Returns a dictionary with the lengths of its keys, otherwise like `kelvin_features_get_dictionary`.
kelvin_code kelvin_features_get_text_dictionary(
  kelvin_features *features, const char *name, const kelvin_text **keys, const double **values, size_t *count,
  bool *is_numbered, char **error);
/// Returns a value as JSON: a number, string, dictionary or sequence, but not an array of numbers, a sequence of arrays
/// or an image. An array of strings becomes nested lists; without dimensions it becomes a string.
kelvin_code kelvin_features_get_json(kelvin_features *features, const char *name, char **json, char **error);
void kelvin_features_release(kelvin_features *features);

// MARK: States

/// The state of a stateful model between predictions. A new state contains zeros.
typedef struct kelvin_state kelvin_state;

/// Creates a state of this model. For a model without states it is empty.
kelvin_code kelvin_state_new(kelvin_model *model, kelvin_state **state, char **error);
/// Copies one of the model's states to an array of the state's shape and type.
kelvin_code kelvin_state_read(kelvin_state *state, const char *name, const kelvin_array *array, char **error);
/// Copies an array to one of the model's states, which must have the same shape and type.
kelvin_code kelvin_state_write(kelvin_state *state, const char *name, const kelvin_array *array, char **error);
void kelvin_state_release(kelvin_state *state);

// MARK: Predictions

/// Makes one prediction.
///
/// - Parameters:
///   - inputs: the inputs, which are not changed.
///   - outputs: receives all outputs and loses all other values. An array or image set under an output's name is
///     written in place. Must not be `inputs`.
///   - state: NULL for a model without states, or to use a temporary zeroed state.
///   - cancellation: NULL for none. With a cancellation, the prediction runs on another thread.
kelvin_code kelvin_predict(
  kelvin_model *model, kelvin_features *inputs, kelvin_features *outputs, kelvin_state *state,
  kelvin_cancellation *cancellation, char **error);
/// Makes one prediction with arrays only, in one call and without features. All memory belongs to the caller and is
/// used only during the call.
///
/// - Parameters:
///   - input_names, inputs: `input_count` names and arrays, under the rules of `kelvin_features_set_array`.
///   - output_names, outputs: `output_count` names and arrays, for the outputs to be written. Other outputs are
///     discarded.
///   - state, cancellation: as in `kelvin_predict`.
/// - Returns: `KELVIN_ERROR_FEATURE` for a missing input, an unknown or duplicate name, and an array whose shape or
///   type does not fit the model. Outputs may then have been written.
kelvin_code kelvin_predict_arrays(
  kelvin_model *model, const char *const *input_names, const kelvin_array *inputs, size_t input_count,
  const char *const *output_names, const kelvin_array *outputs, size_t output_count, kelvin_state *state,
  kelvin_cancellation *cancellation, char **error);
/// Makes several predictions. As many run concurrently as the model keeps execution contexts for.
///
/// - Parameters:
///   - inputs, outputs: `count` features each, all distinct. Arrays and images set in `outputs` are not written; every
///     output has new memory.
/// - Returns: the code of the first item that failed, which `error` names. The outputs are then unchanged.
kelvin_code kelvin_predict_batch(
  kelvin_model *model, kelvin_features *const *inputs, kelvin_features *const *outputs, size_t count,
  kelvin_cancellation *cancellation, char **error);

// MARK: Image files

/// A decoded image.
typedef struct kelvin_image kelvin_image;

/// Decodes an image file: JPEG, PNG, WebP, TIFF, GIF (the first frame) and BMP, and HEIF and AVIF if libvips supports
/// them. An embedded color profile is converted to sRGB, and transparent pixels become black.
kelvin_code kelvin_image_read(const char *path, kelvin_image **image, char **error);
/// Decodes an image file in memory. The bytes are read only during the call.
kelvin_code kelvin_image_read_bytes(const void *bytes, size_t count, kelvin_image **image, char **error);
/// Returns an image's pixels without copying them, as `KELVIN_RGB8` in the file's orientation. They stay valid until
/// the image is released.
///
/// - Parameter orientation: receives the EXIF orientation of the pixels, 1 to 8; may be NULL.
kelvin_code kelvin_image_frame(kelvin_image *image, kelvin_frame *frame, int32_t *orientation, char **error);
void kelvin_image_release(kelvin_image *image);
/// Encodes an image of any format. The pixels must be upright, because no orientation is written.
///
/// - Parameters:
///   - encoding: `png`, lossless with grayscale and alpha preserved, or `jpeg`, without alpha.
///   - quality: the JPEG quality, 1 to 100; 0 for 90, and for PNG.
///   - bytes, count: receive the file, which `kelvin_free` frees.
kelvin_code kelvin_frame_encode(
  const kelvin_frame *frame, const char *encoding, int32_t quality, char **bytes, size_t *count, char **error);

// MARK: Deprecated names, which stay as long as the soname does: use `image` in place of `picture`

typedef kelvin_image_buffer kelvin_picture;
enum { KELVIN_KIND_PICTURE = KELVIN_KIND_IMAGE };
kelvin_code kelvin_features_set_picture(
  kelvin_features *features, const char *name, const kelvin_image_buffer *image, int32_t orientation, kelvin_fit fit,
  char **error);
kelvin_code kelvin_features_set_picture_file(
  kelvin_features *features, const char *name, const char *path, kelvin_fit fit, char **error);
kelvin_code kelvin_features_get_picture(
  kelvin_features *features, const char *name, kelvin_image_buffer *image, char **error);

// MARK: Without a model in memory

/// Returns the devices of this machine, and the reasons why others are missing: the JSON of `kelvin devices --json`.
kelvin_code kelvin_devices(char **json, char **error);
/// Plans a model without compiling it: the JSON of `kelvin plan --json`. `options` may be NULL.
kelvin_code kelvin_plan(const char *path, kelvin_options *options, char **json, char **error);
/// Returns the structure of a model file, with the file's own names, as JSON: `{"program": {"functions": {"main":
/// {"inputs", "block"}}}}`, `{"neuralNetwork": {"layers": […]}}`, `{"pipeline": {"subModelNames", "subModels"}}` or
/// `{"unsupported": "why"}`. A program's operation has `arguments`, `[{"name", "values"}]`, in which null is a value
/// stored in the operation.
kelvin_code kelvin_structure(const char *path, char **json, char **error);
/// Measures every layer on every device, or on the devices of `units`: the JSON of `kelvin profile --json`. The
/// measurements are kept for later plans, unless `no-cache` is set.
///
/// - Parameters:
///   - seconds: the seconds of measuring for each device; 0 for Kelvin's default.
///   - options, cancellation: NULL for none. After a cancellation the function returns the measurements made so far.
kelvin_code kelvin_profile(
  const char *path, kelvin_options *options, double seconds, kelvin_cancellation *cancellation, char **json,
  char **error);
/// Compares configurations of a model: the JSON of `kelvin bench --json`.
///
/// - Parameters:
///   - workload: `one-shot`, `stream`, `throughput`, `tokens`, or the path of a workload's file.
///   - configurations: `count` options, one for each configuration; none to compare the CPU, each hardware device and
///     all.
kelvin_code kelvin_bench(
  const char *path, const char *workload, kelvin_options *const *configurations, size_t count,
  kelvin_cancellation *cancellation, char **json, char **error);

#ifdef __cplusplus
}
#endif

#endif
