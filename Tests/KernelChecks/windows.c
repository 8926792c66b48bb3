/* Windows of single planes, resampling and folding. */
#include "check.h"

void check_depthwise(const ck_kernels *k) {
  ck_window w = random_window_in_bands(false);
  if (one_in(3)) {
    /* The sizes that have specialized kernels. */
    w.kernel_height = w.kernel_width = PICK(3, 5);
    w.stride_y = w.stride_x = PICK(1, 2);
    w.dilation_y = w.dilation_x = 1;
    w.height = (w.out_height - 1) * w.stride_y + w.kernel_height;
    w.width = (w.out_width - 1) * w.stride_x + w.kernel_width;
    if (w.height > w.before_y + 1) w.height -= between(0, w.before_y);
    if (w.width > w.before_x + 1) w.width -= between(0, w.before_x);
  }
  size_t images = between(1, 2), multiplier = between(1, 2), area = w.height * w.width;
  ck_depthwise_args d = {.in_channels = between(1, 3), .window = w};
  d.out_channels = d.in_channels * multiplier;
  size_t taps = w.kernel_height * w.kernel_width, out_area = w.out_height * w.out_width;
  describe_window(&w, "images, channels in, out", images, d.in_channels, d.out_channels);
  d.x = reals(images * d.in_channels * area, -1, 1);
  d.weights = reals(d.out_channels * taps, -1, 1);
  d.y = unset(images * d.out_channels * out_area);
  d.epilogue = random_epilogue(k, d.out_channels, 0, images * d.out_channels * out_area);
  run_all(k->depthwise, &d, images * d.out_channels, k->window_elements(&w) * sizeof(float));
  for (size_t i = 0; i < images * d.out_channels * out_area; i++) {
    size_t channel = i / out_area % d.out_channels, image = i / out_area / d.out_channels, at;
    double sum = 0, magnitude = 0;
    for (size_t tap = 0; tap < taps; tap++) {
      size_t row = i % out_area / w.out_width, column = i % w.out_width;
      if (!tap_inside(&w, row, column, tap / w.kernel_width, tap % w.kernel_width, &at)) continue;
      double x = (double)d.x[(image * d.in_channels + channel / multiplier) * area + at];
      sum += x * (double)d.weights[channel * taps + tap];
      magnitude += fabs(x);
    }
    expect_finished(&d.epilogue, channel, 0, i, sum, magnitude, d.y[i]);
  }
}

void check_window_pool(const ck_kernels *k) {
  ck_window w = random_window_in_bands(true);
  size_t planes = between(1, 4), area = w.height * w.width, out_area = w.out_height * w.out_width;
  ck_window_pool_args p = {.function = PICK(ck_pool_maximum, ck_pool_average), .window = w};
  describe_window(&w, "planes, function", planes, p.function, 0);
  float *x = reals(planes * area, -1, 1);
  if (one_in(3)) x[draw() % (planes * area)] = NAN;
  p.x = x;
  p.y = unset(planes * out_area);
  p.row_counts = random_row_counts(&w);
  p.column_counts = random_column_counts(&w);
  run_all(k->window_pool, &p, planes, k->pool_elements(&w) * sizeof(float));
  for (size_t i = 0; i < planes * out_area; i++) {
    size_t row = i % out_area / w.out_width, column = i % w.out_width, at;
    double most = -INFINITY, sum = 0;
    for (size_t ky = 0; ky < w.kernel_height; ky++)
      for (size_t kx = 0; kx < w.kernel_width; kx++) {
        if (!tap_inside(&w, row, column, ky, kx, &at)) continue;
        double value = (double)x[i / out_area * area + at];
        sum += value;
        if (isnan(value) || value > most) most = value;
      }
    double mean = sum / (double)p.row_counts[row] / (double)p.column_counts[column];
    if (isnan(sum)) most = NAN;
    expect_real(i, p.function == ck_pool_maximum ? most : mean, p.function == ck_pool_maximum ? 0 : 1e-5, p.y[i]);
  }
}

/* Coordinates that only rise, or only fall. */
static ck_interpolation random_interpolation(size_t from, size_t to) {
  int32_t *lower = memory(to * sizeof *lower), *upper = memory(to * sizeof *upper);
  float *fraction = unset(to);
  bool falls = one_in(4);
  double start = (double)real(0, (float)from - 1), step = ((double)from - 1 - start) / (double)to;
  for (size_t i = 0; i < to; i++) {
    size_t at = falls ? to - 1 - i : i;
    double place = start + step * (double)i;
    lower[at] = (int32_t)place;
    upper[at] = lower[at] + 1 < (int32_t)from ? lower[at] + 1 : lower[at];
    fraction[at] = one_in(5) ? 0 : (float)(place - floor(place));
  }
  return (ck_interpolation){lower, upper, fraction};
}

/* The sources of an element: two elements along an axis and the weight of the second. */
typedef struct {
  size_t lower, upper;
  double share;
} mix;

static mix mix_of(const ck_interpolation *taps, size_t i) {
  if (!taps->lower) return (mix){i, i, 0};
  return (mix){(size_t)taps->lower[i], (size_t)taps->upper[i], (double)taps->fraction[i]};
}

void check_resize(const ck_kernels *k) {
  size_t planes = between(1, 3);
  ck_resize_args r = {.height = between(1, 9), .width = PICK(1, 2, 5, 8, 15, 16, 17, 40, 90)};
  r.out_height = between(1, 9);
  r.out_width = PICK(1, 3, 4, 7, 8, 9, 16, 31, 33, 100);
  size_t kept = draw() % 3;
  if (kept == 1) r.out_height = r.height;
  else r.rows = random_interpolation(r.height, r.out_height);
  if (kept == 2) r.out_width = r.width;
  else r.columns = random_interpolation(r.width, r.out_width);
  describe("%zu planes of %zu x %zu to %zu x %zu", planes, r.height, r.width, r.out_height, r.out_width);
  r.x = reals(planes * r.height * r.width, -1, 1);
  r.y = unset(planes * r.out_height * r.out_width);
  run_all(k->resize, &r, planes * r.out_height, r.width * sizeof(float));
  for (size_t i = 0; i < planes * r.out_height * r.out_width; i++) {
    const float *x = r.x + i / r.out_width / r.out_height * r.height * r.width;
    mix row = mix_of(&r.rows, i / r.out_width % r.out_height), column = mix_of(&r.columns, i % r.out_width);
    const float *above = x + row.lower * r.width, *below = x + row.upper * r.width;
    double lower = (double)above[column.lower] * (1 - row.share) + (double)below[column.lower] * row.share;
    double upper = (double)above[column.upper] * (1 - row.share) + (double)below[column.upper] * row.share;
    expect_real(i, lower * (1 - column.share) + upper * column.share, 1e-6, r.y[i]);
  }
}

void check_fold(const ck_kernels *k) {
  ck_window w = random_window(false);
  /* The image is what is folded, and the results are whatever is left of its reach. */
  size_t rows = (w.height - 1) * w.stride_y + (w.kernel_height - 1) * w.dilation_y + 1;
  size_t columns = (w.width - 1) * w.stride_x + (w.kernel_width - 1) * w.dilation_x + 1;
  w.before_y = between(0, (rows - 1) / 2);
  w.before_x = between(0, (columns - 1) / 2);
  w.out_height = between(1, rows + 1);
  w.out_width = between(1, columns + 2);
  size_t planes = between(1, 2), taps = w.kernel_height * w.kernel_width, area = w.height * w.width;
  size_t out_area = w.out_height * w.out_width;
  describe_window(&w, "planes", planes, 0, 0);
  ck_fold_args f = {.x = reals(planes * taps * area, -1, 1), .y = unset(planes * out_area), .window = w};
  run_all(k->fold, &f, planes, k->fold_elements(&w) * sizeof(float));
  double *sums = memory(planes * out_area * sizeof *sums);
  for (size_t i = 0; i < planes * out_area; i++) sums[i] = 0;
  for (size_t i = 0; i < planes * taps * area; i++) {
    size_t tap = i / area % taps, row = i % area / w.width, column = i % w.width;
    size_t y = row * w.stride_y + tap / w.kernel_width * w.dilation_y - w.before_y;
    size_t x = column * w.stride_x + tap % w.kernel_width * w.dilation_x - w.before_x;
    if (y < w.out_height && x < w.out_width)
      sums[i / area / taps * out_area + y * w.out_width + x] += (double)f.x[i];
  }
  for (size_t i = 0; i < planes * out_area; i++) expect_real(i, sums[i], 1e-5 * (double)taps, f.y[i]);
}
