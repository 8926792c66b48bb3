/* 8-bit integers in blocks of channels. The padding of the last block is arbitrary. */
#include "check.h"

static size_t area_of(const ck_window *w) { return w->height * w->width; }
static size_t out_area_of(const ck_window *w) { return w->out_height * w->out_width; }
static size_t taps_of(const ck_window *w) { return w->kernel_height * w->kernel_width; }

/* The index in [images, blocks, area, lanes]; planes are blocks of one lane. */
static size_t place(size_t image, size_t channel, size_t at, size_t channels, size_t area, size_t lanes) {
  return ((image * parts(channels, lanes) + channel / lanes) * area + at) * lanes + channel % lanes;
}

/* The product of one tap of one input channel. */
static uint32_t term(
  const ck_integer_operand *x, const ck_integer_operand *weights, size_t at, size_t weight, size_t channel) {
  int32_t factor = operand_value(weights, weight) - operand_zero(weights, channel);
  return (uint32_t)((operand_value(x, at) - operand_zero(x, 0)) * factor);
}

static void integer_blocked_convolution_of(
  const ck_kernels *kernels, const ck_integer_kernels *own, bool is_tiled) {
  bool is_pointwise = one_in(3), is_planar = !is_tiled && one_in(4);
  ck_window w = random_window(false);
  if (is_pointwise) {
    w.kernel_height = w.kernel_width = w.stride_y = w.stride_x = w.dilation_y = w.dilation_x = 1;
    w.before_y = w.before_x = 0;
    w.out_height = w.height;
    w.out_width = w.width;
  }
  size_t lanes = is_tiled ? ck_tile_words : kernels->lanes, images = between(1, 2), taps = taps_of(&w);
  size_t size = is_planar ? 4 : is_tiled ? 4 * ck_tile_words : lanes, unit = is_tiled ? ck_tile_words : 1;
  size_t in = is_planar ? between(1, 4) : between(1, (is_tiled ? 9 : 3) * lanes), out = between(1, 4 * lanes), blocks = parts(out, lanes);
  size_t out_area = out_area_of(&w), x_lanes = is_planar ? 1 : lanes;
  ck_integer_blocked_args a = {.in_channels = in, .out_channels = out, .window = w, .is_planar = is_planar};
  a.x = random_operand(images * parts(in, x_lanes) * x_lanes * area_of(&w), 1);
  a.weights = random_operand(out * in * taps, out);
  a.copies = !is_pointwise || is_planar || (a.x.is_signed && !is_tiled);
  a.output = random_requantization(out, in * taps, true);
  a.y = memory(images * blocks * lanes * out_area);
  uint32_t *packed = memory(4 * ck_integer_blocked_count(out, in, taps, size, unit, lanes));
  ck_pack_integer_blocked(a.weights.data, a.weights.is_signed, out, in, taps, size, unit, lanes, packed);
  a.packed = packed;
  size_t *offsets = memory(taps * sizeof *offsets);
  memset(offsets, 0, taps * sizeof *offsets);
  if (a.copies) ck_blocked_taps(&w, size, offsets);
  a.taps = offsets;
  size_t extent = a.copies ? w.out_height : out_area;
  a.band = between(1, extent);
  a.block_chunk = one_in(2) ? blocks : 2 * between(1, 2);
  describe_window(&w, is_planar ? "planes: in, out, signed" : "in, out, signed", in, out, a.x.is_signed);
  size_t scratch = is_tiled ? 4 * ck_tile_band_words(&w, a.copies, parts(in, size), a.band)
    : a.copies              ? ck_blocked_band_elements(&w, is_planar ? 4 : parts(in, lanes) * lanes, a.band)
                            : 0;
  run_all(own->blocked_convolution, &a, images * parts(extent, a.band) * parts(blocks, a.block_chunk), scratch);
  for (size_t i = 0; i < images * out * out_area; i++) {
    size_t image = i / out_area / out, channel = i / out_area % out, at;
    uint32_t sum = 0;
    for (size_t j = 0; j < in * taps; j++) {
      size_t tap = j % taps, row = i % out_area / w.out_width, column = i % w.out_width;
      if (tap_inside(&w, row, column, tap / w.kernel_width, tap % w.kernel_width, &at))
        sum += term(
          &a.x, &a.weights, place(image, j / taps, at, in, area_of(&w), x_lanes), channel * in * taps + j, channel);
    }
    size_t to = place(image, channel, i % out_area, out, out_area, lanes);
    expect_requantized(&a.output, channel, to, sum, a.y);
  }
}

INTEGER_CHECKS(integer_blocked_convolution)

void check_integer_blocked_depthwise(const ck_kernels *kernels) {
  ck_window w = random_window(false);
  size_t lanes = kernels->lanes, images = between(1, 2), taps = taps_of(&w), out_area = out_area_of(&w);
  ck_integer_lines_args a = {.channels = between(1, 3 * lanes), .window = w, .band = between(1, w.out_height)};
  size_t blocks = parts(a.channels, lanes);
  a.x = random_operand(images * blocks * lanes * area_of(&w), 1);
  a.weights = random_operand(a.channels * taps, a.channels);
  a.output = random_requantization(a.channels, taps, true);
  a.y = memory(images * blocks * lanes * out_area);
  uint32_t *packed = memory(4 * blocks * lanes * (w.kernel_width * parts(w.kernel_height, 4) + 1));
  ck_pack_integer_lines(
    a.weights.data, a.weights.is_signed, a.channels, w.kernel_height, w.kernel_width, lanes, packed);
  a.packed = packed;
  describe_window(&w, "channels, signed", a.channels, a.x.is_signed, a.weights.is_signed);
  run_all(
    kernels->integer->blocked_depthwise, &a, images * blocks * parts(w.out_height, a.band),
    kernels->integer->blocked_depthwise_scratch(&w));
  for (size_t i = 0; i < images * a.channels * out_area; i++) {
    size_t image = i / out_area / a.channels, channel = i / out_area % a.channels, at;
    uint32_t sum = 0;
    for (size_t tap = 0; tap < taps; tap++)
      if (tap_inside(
            &w, i % out_area / w.out_width, i % w.out_width, tap / w.kernel_width, tap % w.kernel_width, &at))
        sum += term(
          &a.x, &a.weights, place(image, channel, at, a.channels, area_of(&w), lanes), channel * taps + tap, channel);
    size_t to = place(image, channel, i % out_area, a.channels, out_area, lanes);
    expect_requantized(&a.output, channel, to, sum, a.y);
  }
}

void check_integer_blocked_pool(const ck_kernels *kernels) {
  ck_window w = random_window(true);
  size_t lanes = kernels->lanes, blocks = between(1, 4), out_area = out_area_of(&w);
  ck_integer_operand x = random_operand(blocks * lanes * area_of(&w), 1);
  ck_integer_pool_args p = {.x = x.data, .y = memory(blocks * lanes * out_area), .is_signed = x.is_signed, .window = w};
  describe_window(&w, "blocks, signed", blocks, x.is_signed, 0);
  run_all(kernels->integer->blocked_pool, &p, blocks, 0);
  for (size_t i = 0; i < blocks * lanes * out_area; i++) {
    int32_t most = x.is_signed ? -128 : 0;
    size_t out = i / lanes % out_area, at;
    for (size_t ky = 0; ky < w.kernel_height; ky++)
      for (size_t kx = 0; kx < w.kernel_width; kx++) {
        if (!tap_inside(&w, out / w.out_width, out % w.out_width, ky, kx, &at)) continue;
        int32_t value = operand_value(&x, (i / lanes / out_area * area_of(&w) + at) * lanes + i % lanes);
        most = value > most ? value : most;
      }
    expect_integer(i, most, x.is_signed ? (int8_t)p.y[i] : p.y[i]);
  }
}
