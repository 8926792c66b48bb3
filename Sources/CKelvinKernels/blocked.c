#include "blocked_band.h"
#include "ck_tiles.h"
#include "packed_row_writer.h"

size_t ck_blocked_band_elements(const ck_window *w, size_t channels, size_t out_rows) {
  blocked_band band = blocked_plan(w, out_rows);
  return band.rows * band.row * channels;
}

size_t ck_blocked_padded_pixels(const ck_window *w, size_t out_rows) {
  blocked_padding padding = blocked_padding_of(w, out_rows);
  return padding.rows * padding.row;
}

void ck_blocked_taps(const ck_window *w, size_t size, size_t *taps) {
  blocked_band band = blocked_plan(w, 1);
  for (size_t ky = 0; ky < w->kernel_height; ky++)
    for (size_t kx = 0; kx < w->kernel_width; kx++) {
      size_t column = kx * w->dilation_x;
      *taps++ =
        (ky * w->dilation_y * band.row + column % w->stride_x * band.pitch + column / w->stride_x) * size;
    }
}

void ck_pack_blocked(
  const float *w, size_t out_channels, size_t in_channels, size_t taps, size_t lanes, bool is_planar,
  ck_operands type, float *packed) {
  size_t group = is_planar ? type == ck_operands_bfloat16 ? 2 : 1 : lanes;
  if (type == ck_operands_tiles) group = 2 * ck_tile_words;
  size_t blocks = (out_channels + lanes - 1) / lanes;
  for (size_t block = 0; block < blocks; block += 2) {
    size_t width = (blocks - block > 1 ? 2 : 1) * lanes, first = block * lanes;
    packed_row_writer lines = {packed, width, type};
    for (size_t channel = 0; channel < in_channels; channel += group) {
      size_t count = in_channels - channel < group ? in_channels - channel : group;
      for (size_t tap = 0; tap < taps; tap++) {
        for (size_t c = 0; c < count; c++)
          for (size_t lane = 0; lane < width; lane++)
            packed_row_writer_put(
              &lines, c, lane,
              first + lane < out_channels ? w[((first + lane) * in_channels + channel + c) * taps + tap] : 0);
        packed_row_writer_end(&lines, count);
      }
    }
    packed = lines.to;
  }
}

void ck_pack_blocked_groups(
  const float *w, size_t channels, size_t width, size_t taps, size_t lanes, ck_operands type, float *packed) {
  size_t step = width > lanes ? width : lanes;
  for (size_t start = 0; start < channels; start += step) {
    size_t end = channels - start < step ? channels : start + step, blocks = (end - start + lanes - 1) / lanes;
    for (size_t block = 0; block < blocks; block += 2) {
      size_t count = (blocks - block > 1 ? 2 : 1) * lanes, first = start + block * lanes;
      packed_row_writer lines = {packed, count, type};
      for (size_t channel = start; channel < end; channel += lanes) {
        size_t depth = end - channel < lanes ? end - channel : lanes;
        for (size_t tap = 0; tap < taps; tap++) {
          for (size_t c = channel; c < channel + depth; c++)
            for (size_t out = first; out < first + count; out++)
              packed_row_writer_put(
                &lines, c - channel, out - first,
                out < end && out / width == c / width ? w[(out * width + c % width) * taps + tap] : 0);
          packed_row_writer_end(&lines, depth);
        }
      }
      packed = lines.to;
    }
  }
}

void ck_pack_blocked_lines(const float *w, size_t channels, size_t taps, size_t lanes, float *packed) {
  for (size_t first = 0; first < channels; first += lanes)
    for (size_t tap = 0; tap < taps; tap++)
      for (size_t lane = 0; lane < lanes; lane++)
        *packed++ = first + lane < channels ? w[(first + lane) * taps + tap] : 0;
}

/* The number of pixels moved together, so that their cache lines in both layouts stay in the cache. */
enum { strip = 64 };

#define CK_BLOCKS(type, name)                                                                             \
  static void blocks_from_##name(const ck_blocks_args *b, const type *x, type *y, size_t lanes) {         \
    for (size_t at = 0; at < b->area; at += strip) {                                                      \
      size_t stop = b->area - at < strip ? b->area : at + strip;                                          \
      for (size_t lane = 0; lane < b->lanes; lane++)                                                      \
        for (size_t p = at; p < stop; p++) y[p * b->lanes + lane] = lane < lanes ? x[lane * b->area + p] : 0; \
    }                                                                                                     \
  }                                                                                                       \
  static void name##_from_blocks(const ck_blocks_args *b, const type *x, type *y, size_t lanes) {         \
    for (size_t at = 0; at < b->area; at += strip) {                                                      \
      size_t stop = b->area - at < strip ? b->area : at + strip;                                          \
      for (size_t lane = 0; lane < lanes; lane++)                                                         \
        for (size_t p = at; p < stop; p++) y[lane * b->area + p] = x[p * b->lanes + lane];                \
    }                                                                                                     \
  }

CK_BLOCKS(float, planes)
CK_BLOCKS(uint8_t, byte_planes)

/* The offset of item `item` in planes and in blocks, and the number of its lanes that are channels. */
typedef struct {
  size_t planes, blocks, lanes;
} blocks_item;

static blocks_item blocks_item_of(const ck_blocks_args *b, size_t item) {
  size_t blocks = (b->channels + b->lanes - 1) / b->lanes, first = item % blocks * b->lanes;
  return (blocks_item){
    (item / blocks * b->channels + first) * b->area, item * b->area * b->lanes,
    b->channels - first < b->lanes ? b->channels - first : b->lanes};
}

void ck_blocks_from_planes_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_blocks_args *b = args;
  for (size_t i = begin; i < end; i++) {
    blocks_item item = blocks_item_of(b, i);
    if (b->element == 1)
      blocks_from_byte_planes(b, (const uint8_t *)b->x + item.planes, (uint8_t *)b->y + item.blocks, item.lanes);
    else blocks_from_planes(b, (const float *)b->x + item.planes, (float *)b->y + item.blocks, item.lanes);
  }
}

void ck_planes_from_blocks_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_blocks_args *b = args;
  for (size_t i = begin; i < end; i++) {
    blocks_item item = blocks_item_of(b, i);
    if (b->element == 1)
      byte_planes_from_blocks(b, (const uint8_t *)b->x + item.blocks, (uint8_t *)b->y + item.planes, item.lanes);
    else planes_from_blocks(b, (const float *)b->x + item.blocks, (float *)b->y + item.planes, item.lanes);
  }
}
