#pragma once
#include "ck_kernels.h"

/* Arithmetic on 8-bit integers, exact in int32 (modulo 2^32). */

/* Dense 8-bit elements and their zero points: one, or one for each row or column (`zero_step` 1). */
typedef struct {
  const uint8_t *data;
  bool is_signed;
  const uint8_t *zero;
  size_t zero_step;
} ck_integer_operand;

/* The requantization of a sum before it is stored. If `type` is ck_int32, only the bias is added, which may be null. If
 * it is ck_float32, (float)(sum + bias) * (factor * scale), with each product rounded. Otherwise
 * clamp(round_half_even((float)(sum + bias) * scale) + zero, lower, upper). */
typedef struct {
  ck_scalar type;
  const int32_t *bias;
  const float *scale;
  /* One number, for ck_float32. */
  const float *factor;
  /* 0 if all channels share one scale. */
  size_t scale_step;
  /* One element of `type`. */
  const uint8_t *zero;
  int32_t lower, upper;
} ck_requantization;

enum { ck_integer_rows = 6, ck_integer_vectors = 4 };

/* c[batch] = (a[batch] - a zero) * (b[batch] - b zero). Items are (batch, row chunk, column chunk), the last fastest.
 *
 * `a` is packed by pack_rows, `b` as ck_columns_packed by pack_columns. Zero points of `a` are by row, those of `b` by
 * column. Bias and scales are by row if `is_convolution`, otherwise by column, and repeat with the period of `a`. For
 * windows of an image, padding reads the zero point of `b`, so there is only one.
 *
 * Scratch: integer_scratch bytes. */
typedef struct {
  size_t rows, columns, depth, batches;
  const uint32_t *a;
  const uint32_t *b_packed;
  ck_integer_operand a_operand, b_operand;
  void *c;
  /* Batch i is at (i % a_period) * a_step words of `a`, i * b_step elements of `b` and i * c_step elements of `c`.
   * If not null, the indices replace i % a_period and i. */
  size_t a_step, b_step, c_step, a_period;
  const size_t *a_index;
  const size_t *b_index;
  ck_columns kind;
  size_t b_row_stride, b_column_stride;
  ck_window window;
  bool is_convolution;
  /* Multiples of the kernels' height and of the panel's width. */
  size_t row_chunk, column_chunk;
  ck_requantization output;
  /* For results of ck_float32, which have no convolutions. */
  ck_epilogue epilogue;
} ck_integer_gemm_args;

/* Packs rows or columns of a strided matrix. Items are (batch, panel). A panel is [groups][lines] words and one sum
 * for each line, padded with zeros; a word holds the group's elements along the depth. Rows for tiles are
 * [groups / 16][16 rows][16]. `is_unsigned` is the storage of the elements; the other factor has the opposite
 * storage. */
typedef struct {
  const uint8_t *x;
  uint32_t *y;
  bool is_signed, is_unsigned;
  size_t lines, depth;
  size_t line_stride, depth_stride;
  size_t x_step, y_step;
} ck_integer_pack_args;

/* The smallest and the largest number of each chunk of ck_map_chunk: bounds[2 * chunk] and the next; NaN if one is NaN.
 * Items are chunks. */
typedef struct {
  const float *x;
  float *bounds;
  size_t count;
} ck_range_args;

/* Quantizes rows of contiguous numbers to 8 bits, unsigned, and packs them as ck_integer_pack_args says. The range of
 * `bounds` and zero becomes 0 to 255. The first item also writes scale and zero point. Items are panels.
 *
 * Scratch: `depth` bytes. */
typedef struct {
  const float *x;
  uint32_t *y;
  size_t lines, depth;
  /* Of `chunks` chunks, as in ck_range_args. */
  const float *bounds;
  size_t chunks;
  float *scale;
  uint8_t *zero;
} ck_quantize_rows_args;

/* Depthwise convolution: each output channel reads one input channel. Items are (image, output channel). Zero points
 * of the weights are by channel. Scratch: integer depthwise_scratch bytes. */
typedef struct {
  ck_integer_operand x, weights;
  void *y;
  size_t in_channels, out_channels;
  ck_window window;
  ck_requantization output;
} ck_integer_depthwise_args;

/* A convolution of 8-bit tensors whose channels are in blocks of `lanes`: [images, blocks, area, lanes]. Items are
 * (image, band, piece of output blocks), the last fastest. Zero points of the weights are by channel; `weights.data` is
 * not read.
 * Scratch, if it copies: the bytes of ck_blocked_band_elements of the band; for tiles, ck_tile_band_words. */
typedef struct {
  ck_integer_operand x, weights;
  /* In the layout of ck_pack_integer_blocked. */
  const uint32_t *packed;
  void *y;
  size_t in_channels, out_channels;
  ck_window window;
  /* Whether `x` is dense: [images, channels, area], of at most 4 channels. */
  bool is_planar;
  /* As in ck_blocked_convolution_args. Required if `x` is signed or planar, except for tiles. */
  bool copies;
  const size_t *taps;
  size_t band, block_chunk;
  /* The requantization to 8 bits. */
  ck_requantization output;
} ck_integer_blocked_args;

/* The largest height of a window of ck_integer_lines_args. */
enum { ck_integer_lines_height = 8 };

/* Windows of each channel, on 8-bit tensors in blocks. Items are (image, block, band of output rows). */
typedef struct {
  ck_integer_operand x, weights;
  /* For a depthwise convolution, in the layout of ck_pack_integer_lines. */
  const uint32_t *packed;
  void *y;
  size_t channels;
  ck_window window;
  size_t band;
  ck_requantization output;
} ck_integer_lines_args;

/* Writes `w`, [out_channels][in_channels][taps], for pairs of output blocks: words of four signed channels,
 * [pair][input block][tap][word][2 * lanes], and a sum for each output channel, padded with zeros. The last pair may
 * have one block. An input block has `width` channels, and its words are padded to a multiple of `unit`. */
void ck_pack_integer_blocked(
  const uint8_t *w, bool is_signed, size_t out_channels, size_t in_channels, size_t taps, size_t width, size_t unit,
  size_t lanes, uint32_t *packed);

/* The number of words that ck_pack_integer_blocked writes. */
size_t ck_integer_blocked_count(
  size_t out_channels, size_t in_channels, size_t taps, size_t width, size_t unit, size_t lanes);

/* Writes `w`, [channels][height][width], in words of four signed rows of a column: [block][column][ceil(height /
 * 4)][lanes], and a sum for each channel, padded with zeros. */
void ck_pack_integer_lines(
  const uint8_t *w, bool is_signed, size_t channels, size_t height, size_t width, size_t lanes, uint32_t *packed);

/* Maxima of the windows of each plane, or of each block. Items are planes or blocks. */
typedef struct {
  const uint8_t *x;
  uint8_t *y;
  bool is_signed;
  ck_window window;
} ck_integer_pool_args;

/* [outer, length, inner] with the parameters of element (o, i, n) at o * outer_stride + i / block * stride +
 * n * inner_stride. Items are (o, i, chunk of ck_map_chunk inner elements). */
typedef struct {
  const void *x;
  void *y;
  const float *scale;
  const void *zero;
  /* The type of the integers. */
  ck_scalar type;
  size_t outer, length, inner;
  size_t block, outer_stride, stride, inner_stride;
} ck_quantize_args;

/* As ck_binary_args, on 8-bit elements: clamp(round(fixed + x_ratio * x + y_ratio * y)) or
 * clamp(round((x - x_zero) * (y - y_zero) * x_ratio) + zero). */
typedef struct {
  const uint8_t *x;
  const uint8_t *y;
  uint8_t *z;
  bool is_signed, is_product;
  /* Scales and zero points of x, y and z. */
  const float *scales[3];
  const uint8_t *zeros[3];
  size_t rank;
  size_t sizes[ck_max_rank];
  size_t x_strides[ck_max_rank];
  size_t y_strides[ck_max_rank];
} ck_quantized_binary_args;

typedef struct ck_integer_kernels {
  ck_run gemm, pack_rows, pack_columns, depthwise, pool, quantize, dequantize, binary, range, quantize_rows;
  /* Null if words do not have four elements or vectors do not have sixteen lanes. */
  ck_run blocked_convolution, blocked_depthwise, blocked_pool;
  /* Elements along the depth in a word, and the multiple to which the depth of panels is padded. */
  size_t group, unit;
  /* Rows of a panel, rows that are computed together, and columns of a panel. */
  size_t rows, height, width;
  size_t (*depthwise_scratch)(const ck_window *window);
  /* Bytes of scratch. */
  size_t (*blocked_depthwise_scratch)(const ck_window *window);
} ck_integer_kernels;

/* The number of words of packed rows or columns, `lines` of them in panels of `panel`. */
size_t ck_integer_packed_count(const ck_integer_kernels *kernels, size_t lines, size_t panel, size_t depth);
