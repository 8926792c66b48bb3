/* Kernels on blocks of channels. */
#include "check.h"

/* [images, channels, area] as [images, blocks, area, lanes]. */
static float *in_blocks(const float *x, size_t images, size_t channels, size_t area, size_t lanes) {
  size_t blocks = parts(channels, lanes);
  float *y = unset(images * blocks * area * lanes);
  for (size_t i = 0; i < images * blocks * area * lanes; i++) {
    size_t channel = i / lanes / area % blocks * lanes + i % lanes, image = i / lanes / area / blocks;
    y[i] = channel < channels ? x[(image * channels + channel) * area + i / lanes % area] : 0;
  }
  return y;
}

static size_t place_in_blocks(size_t image, size_t channel, size_t at, size_t channels, size_t area, size_t lanes) {
  return ((image * parts(channels, lanes) + channel / lanes) * area + at) * lanes + channel % lanes;
}

/* A convolution, its tensors in planes. */
typedef struct {
  size_t images, in_channels, out_channels;
  /* The input channels of an output, from the first one of its group on. */
  size_t width;
  ck_window window;
  /* The operand type of the products. */
  ck_operands type;
  const float *x, *weights;
} convolution;

static size_t area_of(const ck_window *w) { return w->height * w->width; }
static size_t out_area_of(const ck_window *w) { return w->out_height * w->out_width; }
static size_t taps_of(const ck_window *w) { return w->kernel_height * w->kernel_width; }

/* - reach: the sum of the inputs' magnitudes. */
static double convolve(
  const convolution *c, size_t image, size_t channel, size_t out, double *magnitude, double *reach) {
  const ck_window *w = &c->window;
  size_t outputs = c->out_channels * c->width / c->in_channels, at;
  size_t taps = taps_of(w), first = channel / outputs * c->width;
  double sum = 0;
  *magnitude = *reach = 0;
  for (size_t i = 0; i < c->width; i++)
    for (size_t tap = 0; tap < taps; tap++) {
      if (!tap_inside(w, out / w->out_width, out % w->out_width, tap / w->kernel_width, tap % w->kernel_width, &at))
        continue;
      float x = c->x[(image * c->in_channels + first + i) * area_of(w) + at];
      double weight = (double)operand_of(c->type, c->weights[(channel * c->width + i) * taps + tap]);
      double term = (double)operand_of(c->type, x) * weight;
      sum += term;
      *magnitude += fabs(term);
      *reach += fabs((double)x);
    }
  return sum;
}

static convolution random_convolution(ck_window window, size_t in_channels, size_t out_channels, size_t width) {
  convolution c = {between(1, 2), in_channels, out_channels, width, window, ck_operands_float32, NULL, NULL};
  c.x = reals(c.images * in_channels * area_of(&window), -1, 1);
  c.weights = reals(out_channels * width * taps_of(&window), -1, 1);
  return c;
}

/* Winograd's sums are off by more than those of the taps, `loss` times as much of what a whole window may add up to. Its
 * taps are those of transformed weights, off by a part of the largest weight, which is at most 1. */
static void expect_convolved(
  const convolution *c, size_t lanes, const ck_epilogue *e, double loss, const float *y) {
  size_t out_area = out_area_of(&c->window), blocks = parts(c->out_channels, lanes);
  for (size_t i = 0; i < c->images * blocks * out_area * lanes; i++) {
    size_t channel = i / lanes / out_area % blocks * lanes + i % lanes, out = i / lanes % out_area;
    double magnitude = 0, reach = 0;
    if (channel >= c->out_channels) {
      expect_integer(i, true, isfinite(y[i]));
      continue;
    }
    double sum = convolve(c, i / lanes / out_area / blocks, channel, out, &magnitude, &reach);
    if (loss > 1) magnitude = loss * fmax(magnitude, (double)c->width * 2.25) + 0.05 * reach;
    expect_finished(e, channel, 0, i, sum, magnitude, y[i]);
  }
}

static ck_window pointwise_window(void) {
  ck_window w = {
    .height = between(1, 5), .width = PICK(1, 3, 8, 13, 29), .kernel_height = 1, .kernel_width = 1, .stride_y = 1,
    .stride_x = 1, .dilation_y = 1, .dilation_x = 1};
  w.out_height = w.height;
  w.out_width = w.width;
  return w;
}

/* Returns the elements that a convolution writes, contiguously. The elements between them must be unchanged. */
static float *gathered(const ck_blocked_convolution_args *a, size_t blocks, size_t lanes) {
  const ck_window *w = &a->window;
  float *to = unset(blocks * out_area_of(w) * lanes), *y = a->y;
  for (size_t i = 0; i < blocks * out_area_of(w) * lanes; i++) {
    size_t row = i / lanes / w->out_width % w->out_height, column = i / lanes % w->out_width;
    float *from = y + i / lanes / out_area_of(w) * a->y_block + row * a->y_row + column * a->y_pixel + i % lanes;
    to[i] = *from;
    *from = NAN;
  }
  for (size_t i = 0; i < blocks * a->y_block; i++) expect_integer(i, true, isnan(y[i]));
  return to;
}

static void blocked_convolution_of(const ck_kernels *k, const ck_product_kernels *own, ck_operands type) {
  bool is_tiled = type == ck_operands_tiles, is_pointwise = one_in(3), is_planar = !is_tiled && one_in(4);
  bool has_groups = !is_tiled && !is_planar && one_in(4);
  ck_window w = is_pointwise ? pointwise_window() : random_window(false);
  size_t lanes = is_tiled ? 16 : k->lanes, in = is_planar ? between(1, 4) : between(1, 3 * lanes), out = between(1, 4 * lanes);
  size_t width = in;
  if (has_groups) {
    width = one_in(2) ? lanes * between(1, 2) : lanes / PICK(1, 2, 4);
    in = out = width * between(1, 5);
  }
  convolution c = random_convolution(w, in, out, width);
  c.type = type;
  size_t taps = taps_of(&w), out_area = out_area_of(&w), blocks = parts(out, lanes);
  size_t step = width > lanes ? width : lanes;
  /* Words of a pair of numbers may take a filler in each input block, or plane. */
  size_t words_in = is_planar ? ck_packed_count(type, in) : in / lanes * ck_packed_count(type, lanes) + ck_packed_count(type, in % lanes);
  if (is_tiled) words_in = ck_packed_count(type, in);
  size_t packed_count = blocks * lanes * words_in * taps;
  if (has_groups) {
    size_t rest = in % step, last = rest / lanes * ck_packed_count(type, lanes) + ck_packed_count(type, rest % lanes);
    packed_count = (in / step * (step / lanes) * ck_packed_count(type, step) + parts(rest, lanes) * last) * lanes * taps;
  }
  float *packed = unset(packed_count);
  if (has_groups) ck_pack_blocked_groups(c.weights, out, width, taps, lanes, type, packed);
  else ck_pack_blocked(c.weights, out, in, taps, lanes, is_planar, type, packed);
  ck_blocked_convolution_args a = {
    .x = is_planar ? c.x : in_blocks(c.x, c.images, in, area_of(&w), lanes), .weights = packed,
    .in_channels = in, .out_channels = out,
    .group_blocks = has_groups ? parts(width, lanes) : 0, .window = w, .is_planar = is_planar};
  a.copies = !is_pointwise || (is_planar && type == ck_operands_bfloat16);
  size_t *offsets = memory(taps * sizeof *offsets);
  memset(offsets, 0, taps * sizeof *offsets);
  if (a.copies && !is_tiled) ck_blocked_taps(&w, is_planar ? 1 : ck_packed_count(type, lanes), offsets);
  a.taps = offsets;
  size_t extent = a.copies ? w.out_height : out_area, run = a.group_blocks ? a.group_blocks : 2;
  a.band = between(1, extent);
  a.block_chunk = one_in(2) ? blocks : run * between(1, 2);
  bool is_spread = a.copies && !has_groups && one_in(4);
  a.y_pixel = (is_spread ? 2 : 1) * lanes;
  a.y_row = (is_spread ? 3 : 1) * w.out_width * a.y_pixel;
  a.y_block = w.out_height * a.y_row;
  a.y = unset(c.images * blocks * a.y_block);
  a.epilogue = random_epilogue(k, out, 0, is_spread ? 0 : c.images * blocks * out_area * lanes);
  if (is_spread) a.epilogue.map = NULL;
  describe_window(&w, is_planar ? "planes: in, out, group" : "in, out, group", in, out, has_groups ? width : 0);
  size_t words = ck_packed_count(type, is_planar ? in : parts(in, lanes) * lanes);
  size_t scratch = a.copies ? ck_blocked_band_elements(&w, words, a.band)
    : type == ck_operands_bfloat16 ? words * a.band
                                   : 0;
  if (is_tiled) scratch = ck_tile_band_words(&w, a.copies, parts(in, 2 * ck_tile_words), a.band);
  run_all(
    own->blocked_convolution, &a, c.images * parts(extent, a.band) * parts(blocks, a.block_chunk),
    scratch * sizeof(float));
  expect_convolved(&c, lanes, &a.epilogue, 1, is_spread ? gathered(&a, c.images * blocks, lanes) : a.y);
}

PRODUCT_CHECKS(blocked_convolution)

static void winograd_of(const ck_kernels *k, ck_operands type) {
  ck_window w = {
    .height = between(1, 13), .width = between(1, 21), .kernel_height = 3, .kernel_width = 3, .stride_y = 1,
    .stride_x = 1, .dilation_y = 1, .dilation_x = 1, .before_y = between(0, 2), .before_x = between(0, 2)};
  w.out_height = w.height + w.before_y + 1 > 2 ? w.height + w.before_y - 1 : 1;
  w.out_width = w.width + w.before_x + 1 > 2 ? w.width + w.before_x - 1 : 1;
  size_t lanes = k->lanes, in = PICK(1, 3, 16, 17, 40, 70), out = between(1, 3 * lanes), tile = PICK(2, 4);
  convolution c = random_convolution(w, in, out, in);
  /* A number that makes a transformed tile inexact: far larger than its neighbours. */
  if (type == ck_operands_float32 && one_in(4)) ((float *)c.x)[draw() % (c.images * in * area_of(&w))] = 0x1p40f;
  size_t blocks = parts(out, lanes), points = (tile + 2) * (tile + 2);
  size_t count = c.images * blocks * out_area_of(&w) * lanes;
  float *packed = unset(points * ck_packed_count(type, in) * blocks * lanes);
  ck_pack_winograd(c.weights, out, in, tile, lanes, type, packed);
  ck_winograd_args a = {
    .x = in_blocks(c.x, c.images, in, area_of(&w), lanes), .weights = packed, .y = unset(count), .in_channels = in,
    .out_channels = out, .window = w, .tile = tile, .block_chunk = one_in(2) ? blocks : 2 * between(1, 2)};
  size_t rows = parts(w.out_height, tile);
  a.band = between(1, rows);
  a.epilogue = random_epilogue(k, out, 0, count);
  describe_window(&w, "in, out, tile", in, out, tile);
  size_t tiles = a.band * parts(w.out_width, tile);
  size_t scratch = points * tiles * (ck_packed_count(type, parts(in, lanes) * lanes) + 2 * lanes) * sizeof(float);
  run_all(k->products[type]->winograd, &a, c.images * parts(rows, a.band) * parts(blocks, a.block_chunk), scratch);
  /* Rounded operands have already been transformed. */
  expect_convolved(&c, lanes, &a.epilogue, type == ck_operands_float32 ? 20 : tile == 2 ? 3000 : 12000, a.y);
}

void check_winograd(const ck_kernels *k) { winograd_of(k, ck_operands_float32); }
void check_bfloat_winograd(const ck_kernels *k) { winograd_of(k, ck_operands_bfloat16); }

void check_blocked_depthwise(const ck_kernels *k) {
  bool is_rows = one_in(3);
  ck_window w = random_window(false);
  size_t lanes = k->lanes, multiplier = 1, width = 1;
  if (!is_rows && one_in(2)) {
    width = PICK(1, 2, 4);
    multiplier = width == 4 ? 1 : PICK(1, 2);
  }
  size_t inputs = width * (is_rows ? lanes * between(1, 3) : between(1, 3 * lanes)), channels = inputs * multiplier;
  size_t blocks = parts(channels, lanes);
  convolution c = random_convolution(w, inputs, channels, width);
  size_t area = area_of(&w), out_area = out_area_of(&w), count = c.images * blocks * out_area * lanes;
  float *packed = unset(blocks * lanes * width * taps_of(&w));
  ck_pack_blocked_lines(c.weights, channels, width * taps_of(&w), lanes, packed);
  /* Rows are one block of all channels. */
  ck_blocked_window_args a = {
    .x = in_blocks(c.x, c.images, inputs, area, is_rows ? inputs : lanes), .weights = packed, .y = unset(count),
    .channels = channels, .window = w, .band = between(1, w.out_height), .is_rows = is_rows, .group_inputs = width,
    .group_outputs = width * multiplier, .copies = is_rows || width * multiplier > 1 || one_in(2),
    .epilogue = random_epilogue(k, channels, 0, count)};
  describe_window(&w, is_rows ? "rows: in, out, copies" : "in, out, copies", inputs, channels, a.copies);
  size_t scratch = a.copies ? width * lanes * ck_blocked_padded_pixels(&w, a.band) * sizeof(float) : 0;
  run_all(k->blocked_depthwise, &a, c.images * blocks * parts(w.out_height, a.band), scratch);
  expect_convolved(&c, is_rows ? channels : lanes, &a.epilogue, 1, a.y);
}

void check_blocked_pool(const ck_kernels *k) {
  ck_window w = random_window(true);
  size_t lanes = k->lanes, images = between(1, 2), channels = between(1, 3 * lanes), blocks = parts(channels, lanes);
  size_t area = area_of(&w), out_area = out_area_of(&w);
  float *x = reals(images * channels * area, -1, 1);
  if (one_in(3)) x[draw() % (images * channels * area)] = NAN;
  ck_blocked_window_args a = {
    .x = in_blocks(x, images, channels, area, lanes), .y = unset(images * blocks * out_area * lanes),
    .channels = channels, .window = w, .band = between(1, w.out_height),
    .function = PICK(ck_pool_maximum, ck_pool_average),
    .row_counts = random_row_counts(&w), .column_counts = random_column_counts(&w)};
  describe_window(&w, "channels, function", channels, a.function, 0);
  run_all(k->blocked_pool, &a, images * blocks * parts(w.out_height, a.band), 0);
  for (size_t i = 0; i < images * channels * out_area; i++) {
    size_t row = i % out_area / w.out_width, column = i % w.out_width, at;
    double most = -INFINITY, sum = 0;
    for (size_t tap = 0; tap < taps_of(&w); tap++) {
      if (!tap_inside(&w, row, column, tap / w.kernel_width, tap % w.kernel_width, &at)) continue;
      double value = (double)x[i / out_area * area + at];
      sum += value;
      most = value > most ? value : most;
    }
    double mean = sum / (double)a.row_counts[row] / (double)a.column_counts[column];
    if (isnan(sum)) most = NAN;
    size_t place =
      place_in_blocks(i / out_area / channels, i / out_area % channels, i % out_area, channels, out_area, lanes);
    bool takes_most = a.function == ck_pool_maximum;
    expect_real(place, takes_most ? most : mean, takes_most ? 0 : 1e-5, a.y[place]);
  }
}
