#pragma once
#include "../Generated/ck_functions.h"
#include "ck_coded_columns.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arguments of the kernels. Tensors are dense and row-major; lengths and strides count elements.
 * Every `run` computes items `begin` to `end` of the task that its comment describes. */

struct ck_attention_args;

typedef void (*ck_run)(const void *args, size_t begin, size_t end, void *scratch);

/* y[i] = f(x[i]); `x` and `y` may be the same. */
typedef void (*ck_map)(const float *x, float *y, size_t count, float a, float b);

/* The operands of products, in 32-bit words: a float32, or two bfloat16 or float16 that are neighbours along the depth,
 * the latter with scales (ck_halves.h). The last word of an odd depth is padded with a zero; the depth of tiles is padded
 * to whole tiles of 16 words (ck_tiles.h, which has their kernels). Sums and results are float32. */
typedef enum { ck_operands_float32, ck_operands_bfloat16, ck_operands_float16, ck_operands_tiles } ck_operands;

/* The number of words for this many numbers. */
size_t ck_packed_count(ck_operands type, size_t numbers);

/* The epilogue of a result before it is stored: map(clamp(product + bias + residual)). */
typedef struct {
  /* One element for each row or column of the result, or null. */
  const float *row_bias;
  const float *column_bias;
  /* In the layout of the result, or null. */
  const float *residual;
  float lower, upper;
  /* Null if clamping is sufficient. */
  ck_map map;
  float map_a, map_b;
} ck_epilogue;

/* The signature of cblas_sgemm. */
typedef void (*ck_sgemm)(
  int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a, int lda,
  const float *b, int ldb, float beta, float *c, int ldc);

enum { ck_gemm_rows = 8 };

/* The source of the columns of a matrix product. */
typedef enum {
  /* The windows of an image [channels, slices, height, width]: rows are (channel, kz, ky, kx), columns are output
   * pixels. */
  ck_columns_of_image,
  /* A matrix with any strides. */
  ck_columns_strided,
  /* Panels of ck_gemm_panel columns, [depth][ck_gemm_panel] each, padded with zeros: no packing needed. */
  ck_columns_packed,
  /* Codes, unpacked to the form of packed columns. */
  ck_columns_coded,
} ck_columns;

enum { ck_gemm_panel = 16, ck_gemm_packed_width = 3 * ck_gemm_panel };

/* One axis of a window. */
typedef struct {
  size_t size, kernel, stride, dilation, before, out;
} ck_window_axis;

typedef struct {
  size_t height, width;
  size_t kernel_height, kernel_width;
  size_t stride_y, stride_x;
  size_t dilation_y, dilation_x;
  size_t before_y, before_x;
  size_t out_height, out_width;
  /* The axis before rows: a plane of one slice has sizes of 1. Kernels whose comments do not name slices expect one. */
  ck_window_axis slices;
} ck_window;

/* c[batch] = a[batch] * b[batch], then the epilogue. Items are (batch, row chunk, column chunk), the last fastest.
 *
 * Strides and depths count words. `a` is packed in panels of ck_gemm_rows rows: [depth][ck_gemm_rows] each, padded with
 * zeros; for tiles in panels of 16 rows, [tile][16 rows][16 words]. Words of two numbers require packed columns too.
 *
 * For `gemm_blas`, `a` and `b` may have any strides of which one is 1. `transposes_a` and `transposes_b` tell whether
 * the 1 is along rows (of a) or along the depth (of b). Columns are not packed, and depth_chunk is the depth.
 *
 * Scratch: column_chunk, rounded up to gemm_width, times the smaller of depth and depth_chunk, in float32 elements. */
typedef struct {
  size_t rows, columns, depth, batches;
  const float *a;
  const float *b;
  float *c;
  /* For `gemm_blas` only. */
  ck_sgemm sgemm;
  size_t a_row_stride, a_depth_stride;
  bool transposes_a, transposes_b;
  /* Batch i is at a + (i % a_period) * a_step, b + i * b_step and c + i * c_step; its row bias at
   * row_bias + (i % a_period) * rows. */
  size_t a_step, b_step, c_step, a_period;
  /* If not null, the steps that replace i % a_period and i. */
  const size_t *a_index;
  const size_t *b_index;
  size_t c_row_stride;
  ck_columns kind;
  size_t b_row_stride, b_column_stride;
  ck_window window;
  /* Replaces `b` if columns are codes. */
  ck_coded_columns coded;
  /* Multiples of ck_gemm_rows and of gemm_width; for packed and coded columns, of ck_gemm_packed_width; at least 1. For
   * tiles, multiples of 32 rows, 32 columns and 16 words. */
  size_t row_chunk, column_chunk, depth_chunk;
  ck_epilogue epilogue;
} ck_gemm_args;

/* Packs the rows of a strided matrix of float32 as words into panels of ck_packed_panel. Items are (batch, panel).
 * `y_step` counts words, all other sizes and strides count elements. */
typedef struct {
  const float *x;
  float *y;
  size_t rows, depth;
  size_t row_stride, depth_stride;
  size_t x_step, y_step;
} ck_pack_rows_args;

/* y = w * x for one vector of float32: `b` as ck_columns_packed, in words, `depth` elements deep. Items are panels. */
typedef struct {
  const float *x;
  const float *b;
  float *y;
  size_t columns, depth;
  ck_epilogue epilogue;
} ck_gemv_args;

/* Depthwise convolution: each output channel reads one input channel, of any number of slices. Items are (image,
 * output channel). */
typedef struct {
  const float *x;
  /* [channels][kernel] */
  const float *weights;
  float *y;
  size_t in_channels, out_channels;
  ck_window window;
  ck_epilogue epilogue;
} ck_depthwise_args;

typedef enum { ck_pool_maximum, ck_pool_average } ck_pool_function;

/* Pooling over the windows of each plane. Items are planes. Scratch: `pool_elements` float32 elements. */
typedef struct {
  const float *x;
  float *y;
  ck_pool_function function;
  ck_window window;
  /* For averages: the number of rows and columns of each window that count, [out_height] and [out_width]. */
  const float *row_counts;
  const float *column_counts;
} ck_window_pool_args;

/* A convolution on tensors whose channels are in blocks of `lanes`: [images, blocks, area, lanes]. Items are (image,
 * band, piece of output blocks), the last fastest.
 * Scratch, if it copies: ck_blocked_band_elements of the band, in words. If it does not copy and words have two
 * numbers: the words of a band. For tiles: ck_tile_band_words; tensors are in blocks of 16, every output reads all
 * channels, and `taps` is not read. */
typedef struct {
  const float *x;
  /* In the layout of ck_pack_blocked. */
  const float *weights;
  float *y;
  size_t in_channels, out_channels;
  /* The blocks of channels of a group, for input and output alike; 0 if every output reads all channels. */
  size_t group_blocks;
  /* The channels of a group if a block has several groups; otherwise 0. */
  size_t group_width;
  ck_window window;
  /* Whether `x` is dense: [images, channels, area]. */
  bool is_planar;
  /* Whether input rows are copied with their padding and split into stride phases; otherwise each position reads
   * only itself. Required for planes if words have two numbers. */
  bool copies;
  /* The result of ck_blocked_taps for the words of a pixel; a single zero if nothing is copied. */
  const size_t *taps;
  /* The output rows of an item, or output positions if nothing is copied; and output blocks, which are whole groups,
   * pairs or all. */
  size_t band, block_chunk;
  /* The offsets in the result from a pixel to the next, from a row and from a block, in floats. They are larger than
   * those of the window if its outputs are only some positions of a larger result. The convolution then copies, and
   * has neither a map nor groups. */
  size_t y_pixel, y_row, y_block;
  /* `residual` has the layout of the result. */
  ck_epilogue epilogue;
} ck_blocked_convolution_args;

/* A convolution of 3 x 3 taps and strides of 1 by tiles of `tile` x `tile` outputs, 2 or 4, on tensors in blocks.
 * Items are (image, band of rows of tiles, piece of output blocks), the last fastest.
 * Scratch: (tile + 2)^2 * tiles of a band * (words of the input channels in whole blocks + 2 * lanes) words. */
typedef struct {
  const float *x;
  /* In the layout of ck_pack_winograd. */
  const float *weights;
  float *y;
  size_t in_channels, out_channels;
  ck_window window;
  size_t tile;
  /* The rows of tiles of an item, and the output blocks, an even number or all. */
  size_t band, block_chunk;
  ck_epilogue epilogue;
} ck_winograd_args;

/* Writes `w`, [out_channels][in_channels][9], transformed for pairs of output blocks, padded with zeros:
 * [pair][point][word of in_channels][2 * lanes]. The last pair may have one block. */
void ck_pack_winograd(
  const float *w, size_t out_channels, size_t in_channels, size_t tile, size_t lanes, ck_operands type,
  float *packed);

/* Windows of each channel, on tensors in blocks. Items are (image, block, band of output rows). Scratch, if it
 * copies: `lanes` floats for each of ck_blocked_padded_pixels of a band, for each input of a group. */
typedef struct {
  const float *x;
  /* For a depthwise convolution, in the layout of ck_pack_blocked_lines, with the taps of all inputs of a group. */
  const float *weights;
  float *y;
  size_t channels;
  ck_window window;
  size_t band;
  /* Whether a depthwise convolution copies the input of a band. */
  bool copies;
  /* The channels of a group, divisors of the lanes; 0 stands for 1. With more than 1, a depthwise convolution copies. */
  size_t group_inputs, group_outputs;
  /* Whether the tensors are rows instead: [images, area, channels], of whole blocks. The convolution then copies. */
  bool is_rows;
  /* For pooling; as in ck_window_pool_args. */
  ck_pool_function function;
  const float *row_counts, *column_counts;
  ck_epilogue epilogue;
} ck_blocked_window_args;

/* The float32 elements of a band of this many output rows; `channels` includes the padding of the last block. */
size_t ck_blocked_band_elements(const ck_window *window, size_t channels, size_t out_rows);

/* The pixels that a band of this many output rows reads, including padding. */
size_t ck_blocked_padded_pixels(const ck_window *window, size_t out_rows);

/* The offset of each tap of a window in such a band, with pixels of `size` words. */
void ck_blocked_taps(const ck_window *window, size_t size, size_t *taps);

/* Writes `w`, [out_channels][in_channels][taps], for pairs of output blocks, padded with zeros: [pair][input block,
 * or plane][tap][word of the block][2 * lanes]. The last pair may have one block. An input block for tiles has 32
 * channels. */
void ck_pack_blocked(
  const float *w, size_t out_channels, size_t in_channels, size_t taps, size_t lanes, bool is_planar,
  ck_operands type, float *packed);

/* The same for `channels` in groups of `width`, each a part of a block or whole blocks: w is
 * [channels][width][taps]. Weights between different groups of a block are zero. */
void ck_pack_blocked_groups(
  const float *w, size_t channels, size_t width, size_t taps, size_t lanes, ck_operands type, float *packed);

/* Writes `w`, [channels][taps], as [block][tap][lanes], padded with zeros. */
void ck_pack_blocked_lines(const float *w, size_t channels, size_t taps, size_t lanes, float *packed);

/* Converts between [images, channels, area] and [images, blocks, area, lanes], padded with zeros. Items are (image,
 * block). */
typedef struct {
  const void *x;
  void *y;
  /* Bytes of an element: 1 or 4. */
  size_t element;
  size_t channels, area, lanes;
} ck_blocks_args;
void ck_blocks_from_planes_run(const void *args, size_t begin, size_t end, void *scratch);
void ck_planes_from_blocks_run(const void *args, size_t begin, size_t end, void *scratch);

enum { ck_map_chunk = 4096 };

/* The elements of the result, in order, that are one item of an element-wise kernel. The strips of a chain of such
 * kernels fit in a first-level cache. */
enum { ck_strip = 512 };

/* Items are strips. */
typedef struct {
  const float *x;
  float *y;
  size_t count;
  ck_map map;
  float a, b;
} ck_unary_args;

enum { ck_max_rank = 8 };

/* As the stride of a binary operand's last axis: one vector of the variant's lanes is repeated. The last size is then a
 * multiple of the lanes, of which a strip is one, too. */
enum { ck_repeats = 2 };

/* z = x op y. The last size is the inner one; strides of x and y there are 0, 1 or ck_repeats, z is dense.
 * Items are strips. */
typedef struct {
  const float *x;
  const float *y;
  float *z;
  size_t function;
  size_t rank;
  size_t sizes[ck_max_rank];
  size_t x_strides[ck_max_rank];
  size_t y_strides[ck_max_rank];
} ck_binary_args;

/* [outer, length, inner] to [outer, inner]. Items are (outer, chunk of ck_reduce_chunk inner elements). */
typedef struct {
  const float *x;
  float *y;
  size_t function;
  size_t outer, length, inner;
} ck_reduce_args;

enum { ck_reduce_chunk = 256 };

/* Softmax over the middle of [outer, length, inner]; items as ck_reduce_args. */
typedef struct {
  const float *x;
  float *y;
  size_t outer, length, inner;
} ck_softmax_args;

/* y = (x - mean) * scale + shift for each of `planes` planes of [outer, channels, inner]. Items are strips. For tensors
 * in blocks, `channels` is the number of blocks, `inner` includes their lanes, and the vectors include numbers for
 * padding lanes. */
typedef struct {
  const float *x;
  float *y;
  const float *mean;
  const float *scale;
  const float *shift;
  size_t planes, channels, inner;
  bool is_blocked;
} ck_batch_normalization_args;

/* y = (x - mean) / sqrt(variance + epsilon) * scale + shift for each row; if not centered,
 * x / sqrt(mean of squares + epsilon) * scale + shift. Items are rows. */
typedef struct {
  const float *x;
  float *y;
  /* One element for each column, or null. */
  const float *scale;
  const float *shift;
  size_t length;
  float epsilon;
  bool centered;
} ck_layer_normalization_args;

/* Rotates pairs of the first `width` elements of each row of x, and copies the others. Cosines and sines have width / 2
 * elements for each row, with strides along the axes of rows. Items are indices of all axes but the last. */
typedef struct {
  const float *x;
  const float *cosines;
  const float *sines;
  float *y;
  size_t rank;
  size_t sizes[ck_max_rank];
  size_t cosine_strides[ck_max_rank];
  size_t sine_strides[ck_max_rank];
  size_t length, width;
  bool interleaved;
} ck_rotary_embedding_args;

/* y = x / (k + factor * sum of squares)^beta over the channels from `before` below to `after` above each channel of
 * [images, channels, inner]. Items are (image, chunk of ck_reduce_chunk inner elements). */
typedef struct {
  const float *x;
  float *y;
  size_t channels, inner;
  size_t before, after;
  float factor, beta, k;
} ck_response_normalization_args;

/* Two elements along an axis and the weight of the upper one. */
typedef struct {
  const int32_t *lower;
  const int32_t *upper;
  const float *fraction;
} ck_interpolation;

/* Resizes [outer, height, width] to [outer, out_height, out_width], linearly along both axes; null taps leave an
 * axis unchanged. Items are (outer, output row). Scratch: `width` float32 elements. */
typedef struct {
  const float *x;
  float *y;
  size_t height, width, out_height, out_width;
  ck_interpolation rows, columns;
} ck_resize_args;

/* Adds up the products of a transposed convolution: y[i * stride + tap * dilation - before] += x[tap, i] for each plane
 * of x [planes, taps, slices, height, width]. Items are planes. Scratch: `fold_elements` float32 elements. */
typedef struct {
  const float *x;
  float *y;
  ck_window window;
} ck_fold_args;

/* Converts float16 to float32 or back. Items are chunks of ck_map_chunk elements. */
typedef struct {
  const void *x;
  void *y;
  size_t count;
} ck_convert_args;

struct ck_integer_kernels;

/* Kernels that multiply operands of one type. */
typedef struct {
  ck_run gemm, gemv, pack_rows, blocked_convolution, winograd;
} ck_product_kernels;

/* The kernels of one instruction set. */
typedef struct {
  const char *name;
  size_t lanes;
  ck_run coded, gemm_blas, depthwise, window_pool, unary, binary, reduce, running, softmax, batch_normalization;
  ck_run rotary_embedding;
  ck_run layer_normalization, response_normalization, resize, fold, compare, select, cast;
  ck_run blocked_depthwise, blocked_pool;
  ck_run attention;
  ck_run float_from_half, half_from_float;
  /* Columns of a panel of the matrix product. */
  size_t gemm_width;
  /* The float32 elements of scratch that depthwise convolution and pooling need for a window. */
  size_t (*window_elements)(const ck_window *window);
  size_t (*pool_elements)(const ck_window *window);
  size_t (*attention_elements)(const struct ck_attention_args *args);
  /* The float32 elements of scratch that adding up a transposed convolution needs. */
  size_t (*fold_elements)(const ck_window *window);
  /* Indexed by the number of the function. */
  ck_map maps[ck_unary_functions];
  const struct ck_integer_kernels *integer;
  /* Null for operands that the instruction set does not support. */
  const ck_product_kernels *products[ck_operands_tiles];
} ck_kernels;

/* The instruction sets this host can run, best first; the last is the portable one. */
const ck_kernels *const *ck_variants(size_t *count);

/* The rows of a panel of packed rows. */
size_t ck_packed_panel(ck_operands type);

/* The number of words of packed operands. */
size_t ck_packed_rows_count(size_t rows, size_t depth, ck_operands type);
size_t ck_packed_columns_count(size_t columns, size_t depth, ck_operands type);

/* Writes `w`, [columns][depth] with the given strides, as words in ck_columns_packed. */
void ck_pack_columns(
  const float *w, size_t columns, size_t depth, size_t column_stride, size_t depth_stride, ck_operands type,
  float *packed);

/* Copies elements of 1, 2, 4 or 8 bytes between any two strided layouts. Strides count elements and may be negative
 * or, in the source, zero. Items are the indices of all axes but the last. */
typedef struct {
  const void *source;
  void *target;
  size_t element;
  size_t rank;
  size_t sizes[ck_max_rank];
  ptrdiff_t source_strides[ck_max_rank];
  ptrdiff_t target_strides[ck_max_rank];
} ck_copy_args;
void ck_copy_run(const void *args, size_t begin, size_t end, void *scratch);

/* Fills elements with one value. Items are chunks of ck_map_chunk elements. */
typedef struct {
  void *target;
  size_t element;
  size_t count;
  uint64_t value;
} ck_fill_args;
void ck_fill_run(const void *args, size_t begin, size_t end, void *scratch);

typedef enum {
  ck_float16, ck_float32, ck_float64,
  ck_int8, ck_int16, ck_int32, ck_int64,
  ck_uint8, ck_uint16, ck_uint32, ck_uint64,
  ck_bool,
} ck_scalar;

enum { ck_arg_reduce_chunk = 256 };

/* The position of the largest or smallest element along the middle of [outer, length, inner], the first or the last
 * of equal ones; a NaN exceeds every number. Items are (outer, chunk of ck_arg_reduce_chunk inner elements). */
typedef struct {
  const float *x;
  /* Integers of `element` bytes that hold length - 1. */
  void *y;
  size_t element;
  size_t outer, length, inner;
  bool minimum, takes_last;
} ck_arg_reduce_args;
void ck_arg_reduce_run(const void *args, size_t begin, size_t end, void *scratch);

/* Converts each element to another type. No type is float16, which is float32 inside a segment. Items are strips. */
typedef struct {
  const void *x;
  void *y;
  ck_scalar from, to;
  size_t count;
} ck_cast_args;
