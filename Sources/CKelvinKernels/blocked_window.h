/* Windows of each channel on blocks of channels: depthwise convolution and pooling. Taps outside the image are
 * skipped, or read a copy padded with zeros. */
#pragma once
#include "blocked_band.h"
#include "ck_kernels.h"
#include "simd.h"
#include "window_span.h"

enum { blocked_window_pixels = 8, blocked_depthwise, blocked_maximum, blocked_average };

/* The taps along one axis that are in the image, and the output positions whose taps all are. */
typedef struct {
  ptrdiff_t size, kernel, stride, dilation, before;
} blocked_axis;

CK_INLINE ptrdiff_t blocked_least(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }
CK_INLINE ptrdiff_t blocked_most(ptrdiff_t a, ptrdiff_t b) { return a > b ? a : b; }

CK_INLINE ptrdiff_t blocked_first_tap(const blocked_axis *a, ptrdiff_t start) {
  return start >= 0 ? 0 : blocked_least(a->kernel, (-start + a->dilation - 1) / a->dilation);
}

CK_INLINE ptrdiff_t blocked_last_tap(const blocked_axis *a, ptrdiff_t start) {
  return start >= a->size ? 0 : blocked_least(a->kernel, (a->size - start + a->dilation - 1) / a->dilation);
}

/* The planes of `x` that add up to a result: their number, and floats from one to the next. */
typedef struct {
  size_t count, step;
} blocked_planes;

/* Computes `pixels` neighbouring outputs, `pitch` floats apart, that share the taps `first` to `last` along the row. */
CK_INLINE void blocked_window_tile(
  const ck_blocked_window_args *p, const ck_window *window, const int function, const float *x, const float *w, float *y,
  const float *residual, const size_t pitch, vf bias, const size_t pixels, const ptrdiff_t stride, ptrdiff_t row_first,
  ptrdiff_t row_last, ptrdiff_t first, ptrdiff_t last, vf count, blocked_planes planes) {
  vf sums[blocked_window_pixels];
  size_t taps = window->kernel_height * window->kernel_width;
#pragma clang loop unroll(full)
  for (size_t i = 0; i < pixels; i++) sums[i] = function == blocked_maximum ? vset(-INFINITY) : bias;
  for (size_t plane = 0; plane < planes.count; plane++, x += planes.step) {
    for (ptrdiff_t ky = row_first; ky < row_last; ky++) {
      const float *line = x + ky * (ptrdiff_t)(window->dilation_y * window->width) * CK_LANES;
      for (ptrdiff_t kx = first; kx < last; kx++) {
        const float *from = line + kx * (ptrdiff_t)window->dilation_x * CK_LANES;
        vf tap =
          function == blocked_depthwise ? vload(w + (ky * (ptrdiff_t)window->kernel_width + kx) * CK_LANES) : bias;
#pragma clang loop unroll(full)
        for (size_t i = 0; i < pixels; i++) {
          vf value = vload(from + (ptrdiff_t)i * stride * CK_LANES);
          sums[i] = function == blocked_depthwise ? vmuladd(tap, value, sums[i])
            : function == blocked_maximum         ? vlarger(sums[i], value)
                                                  : sums[i] + value;
        }
      }
    }
    if (function == blocked_depthwise) w += taps * CK_LANES;
  }
  vf lower = vset(p->epilogue.lower), upper = vset(p->epilogue.upper);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < pixels; i++) {
    vf sum = sums[i];
    if (function == blocked_average) sum /= count;
    if (function == blocked_depthwise) {
      if (residual) sum += vload(residual + i * pitch);
      sum = vatmost(vatleast(sum, lower), upper);
    }
    vstore(y + i * pitch, sum);
  }
}

/* The same for a depthwise convolution with a stride of 1 and `kernel` neighbouring taps, `row` floats from one row
 * of taps to the next. It reads each element once, and only the columns whose bit of `inside` is set. */
CK_INLINE void blocked_line_tile(
  const ck_blocked_window_args *p, const float *x, size_t row, const float *w, float *y, const float *residual,
  size_t pitch, vf bias, const size_t pixels, const size_t kernel, ptrdiff_t row_first, ptrdiff_t row_last,
  uint32_t inside, blocked_planes planes) {
  vf sums[blocked_window_pixels];
#pragma clang loop unroll(full)
  for (size_t i = 0; i < pixels; i++) sums[i] = bias;
  size_t all = p->window.kernel_height * kernel * CK_LANES;
  for (size_t plane = 0; plane < planes.count; plane++, x += planes.step, w += all)
    for (ptrdiff_t ky = row_first; ky < row_last; ky++) {
      const float *line = x + ky * (ptrdiff_t)row;
      vf taps[7];
#pragma clang loop unroll(full)
      for (size_t kx = 0; kx < kernel; kx++) taps[kx] = vload(w + (ky * (ptrdiff_t)kernel + (ptrdiff_t)kx) * CK_LANES);
#pragma clang loop unroll(full)
      for (size_t j = 0; j < pixels + kernel - 1; j++) {
        if (!(inside >> j & 1)) continue;
        vf value = vload(line + j * CK_LANES);
#pragma clang loop unroll(full)
        for (size_t kx = 0; kx < kernel; kx++)
          if (j >= kx && j - kx < pixels) sums[j - kx] = vmuladd(taps[kx], value, sums[j - kx]);
      }
    }
  vf lower = vset(p->epilogue.lower), upper = vset(p->epilogue.upper);
#pragma clang loop unroll(full)
  for (size_t i = 0; i < pixels; i++) {
    vf sum = residual ? sums[i] + vload(residual + i * pitch) : sums[i];
    vstore(y + i * pitch, vatmost(vatleast(sum, lower), upper));
  }
}

/* The numbers from `first` up to `end` as bits. */
CK_INLINE uint32_t blocked_bits(ptrdiff_t first, ptrdiff_t end) {
  first = blocked_most(first, 0);
  end = blocked_least(end, 31);
  return end <= first ? 0 : (1u << end) - (1u << first);
}

/* A row of outputs in tiles of nearly equal width. */
#define CK_BLOCKED_LINE(kernel)                                                                                    \
  static void CK_NAME(ck_f32_blocked_line_##kernel)(                                                               \
    const ck_blocked_window_args *p, const float *x, size_t row, const float *w, float *y, const float *residual,  \
    size_t pitch, vf bias, size_t count, const blocked_axis *columns, ptrdiff_t row_first, ptrdiff_t row_last,     \
    blocked_planes planes) {                                                                                       \
    size_t tiles = (count + blocked_window_pixels - 1) / blocked_window_pixels;                                    \
    for (size_t i = 0; i < count; tiles--) {                                                                       \
      size_t pixels = (count - i + tiles - 1) / tiles;                                                             \
      ptrdiff_t before = columns->before - (ptrdiff_t)i;                                                           \
      uint32_t inside = blocked_bits(before, before + columns->size);                                              \
      switch (pixels) {                                                                                            \
        CK_BLOCKED_LINE_CASE(8, kernel)                                                                            \
        CK_BLOCKED_LINE_CASE(7, kernel)                                                                            \
        CK_BLOCKED_LINE_CASE(6, kernel)                                                                            \
        CK_BLOCKED_LINE_CASE(5, kernel)                                                                            \
        CK_BLOCKED_LINE_CASE(4, kernel)                                                                            \
        CK_BLOCKED_LINE_CASE(3, kernel)                                                                            \
        CK_BLOCKED_LINE_CASE(2, kernel)                                                                            \
        CK_BLOCKED_LINE_CASE(1, kernel)                                                                            \
      }                                                                                                            \
      i += pixels;                                                                                                 \
    }                                                                                                              \
  }
#define CK_BLOCKED_LINE_CASE(n, kernel)                                                                           \
  case n:                                                                                                         \
    blocked_line_tile(                                                                                            \
      p, x + i * CK_LANES, row, w, y + i * pitch, residual ? residual + i * pitch : NULL, pitch, bias, n, kernel, \
      row_first, row_last, inside, planes);                                                                       \
    break;
CK_BLOCKED_LINE(3)
CK_BLOCKED_LINE(5)
CK_BLOCKED_LINE(7)

/* The input of a block: pixels are `pitch` floats apart. If `spreads`, lane i of the block is lane lanes[i] of it. */
typedef struct {
  const float *x;
  size_t pitch;
  bool spreads;
  vi lanes;
} blocked_plane;

CK_INLINE void blocked_copy_line(const blocked_plane *plane, ptrdiff_t first, ptrdiff_t count, float *to) {
  const float *from = plane->x + first * (ptrdiff_t)plane->pitch;
  for (ptrdiff_t i = 0; i < count; i++) {
    vf value = vload(from + i * (ptrdiff_t)plane->pitch);
    vstore(to + i * CK_LANES, plane->spreads ? vpermute(value, plane->lanes) : value);
  }
}

/* Copies the rows that a band reads, padded with zeros; returns the window for the copy. */
static ck_window blocked_padded(
  const ck_window *w, const blocked_plane *plane, size_t first, size_t count, float *to) {
  ck_window padded = *w;
  blocked_padding size = blocked_padding_of(w, count);
  padded.height = size.rows;
  padded.width = size.row;
  padded.out_height = count;
  padded.before_x = padded.before_y = 0;
  ck_window whole = *w;
  whole.stride_x = 1;
  for (size_t row = 0; row < size.rows; row++, to += size.row * CK_LANES) {
    ptrdiff_t y = (ptrdiff_t)(first * w->stride_y + row) - (ptrdiff_t)w->before_y, x = -(ptrdiff_t)w->before_x;
    window_span inside = window_inside(&whole, y, x, (ptrdiff_t)size.row);
    memset(to, 0, (size_t)inside.before * CK_LANES * sizeof(float));
    blocked_copy_line(
      plane, y * (ptrdiff_t)w->width + x + inside.before, inside.end - inside.before, to + inside.before * CK_LANES);
    memset(to + inside.end * CK_LANES, 0, (size_t)((ptrdiff_t)size.row - inside.end) * CK_LANES * sizeof(float));
  }
  return padded;
}

/* The same without padding. */
static ck_window blocked_cut(const ck_window *w, const blocked_plane *plane, size_t first, size_t count, float *to) {
  blocked_padding size = blocked_padding_of(w, count);
  ptrdiff_t top = (ptrdiff_t)(first * w->stride_y) - (ptrdiff_t)w->before_y, begin = blocked_most(top, 0);
  ptrdiff_t end = blocked_least(top + (ptrdiff_t)size.rows, (ptrdiff_t)w->height);
  ck_window cut = *w;
  cut.width = (size_t)blocked_most(0, blocked_least((ptrdiff_t)w->width, (ptrdiff_t)(size.row - w->before_x)));
  cut.height = (size_t)blocked_most(0, end - begin);
  cut.before_y = (size_t)(begin - top);
  for (ptrdiff_t y = begin; y < end; y++, to += cut.width * CK_LANES)
    blocked_copy_line(plane, y * (ptrdiff_t)w->width, (ptrdiff_t)cut.width, to);
  return cut;
}

CK_INLINE void blocked_window_run(
  const ck_blocked_window_args *p, const int function, const ptrdiff_t fixed_stride, size_t begin, size_t end,
  float *scratch) {
  ptrdiff_t stride = fixed_stride ? fixed_stride : (ptrdiff_t)p->window.stride_x;
  size_t blocks = (p->channels + CK_LANES - 1) / CK_LANES, height = p->window.out_height;
  size_t bands = (height + p->band - 1) / p->band, area = p->window.height * p->window.width;
  bool copies = function == blocked_depthwise && p->copies;
  bool is_line = function == blocked_depthwise && fixed_stride == 1 && p->window.dilation_x == 1 &&
    (p->window.kernel_width == 3 || p->window.kernel_width == 5 || p->window.kernel_width == 7);
  size_t pitch = p->is_rows ? p->channels : CK_LANES, outputs = p->group_outputs > 1 ? p->group_outputs : 1;
  blocked_planes planes = {.count = function == blocked_depthwise && p->group_inputs > 1 ? p->group_inputs : 1};
  size_t multiplier = outputs / planes.count, in_blocks = (p->channels / multiplier + CK_LANES - 1) / CK_LANES;
  for (size_t item = begin; item < end; item++) {
    size_t plane = item / bands, block = plane % blocks, first_row = item % bands * p->band;
    size_t last_row = first_row + p->band < height ? first_row + p->band : height;
    size_t start = p->is_rows ? plane / blocks * area * pitch + block * CK_LANES
                              : (plane / blocks * in_blocks + block / multiplier) * area * CK_LANES;
    const float *x = p->x + start;
    ck_window window = p->window;
    if (copies) {
      blocked_plane source = {.x = x, .pitch = pitch, .spreads = outputs > 1};
      for (size_t i = 0; i < planes.count; i++) {
        for (size_t lane = 0; source.spreads && lane < CK_LANES; lane++)
          source.lanes[lane] = (int32_t)(((block * CK_LANES + lane) / outputs * planes.count + i) % CK_LANES);
        window = (is_line ? blocked_cut : blocked_padded)(
          &p->window, &source, first_row, last_row - first_row, scratch + i * planes.step);
        planes.step = window.height * window.width * CK_LANES;
      }
      x = scratch;
    }
    const ck_window *w = &window;
    blocked_axis rows = {
      (ptrdiff_t)w->height, (ptrdiff_t)w->kernel_height, (ptrdiff_t)w->stride_y, (ptrdiff_t)w->dilation_y,
      (ptrdiff_t)w->before_y};
    blocked_axis columns = {
      (ptrdiff_t)w->width, (ptrdiff_t)w->kernel_width, stride, (ptrdiff_t)w->dilation_x, (ptrdiff_t)w->before_x};
    ptrdiff_t width = (ptrdiff_t)w->out_width, reach = (columns.kernel - 1) * columns.dilation;
    ptrdiff_t inner = blocked_least(width, (columns.before + stride - 1) / stride);
    ptrdiff_t outer = columns.size + columns.before - reach;
    outer = blocked_most(inner, outer <= 0 ? 0 : blocked_least(width, (outer + stride - 1) / stride));
    size_t taps = planes.count * w->kernel_height * w->kernel_width;
    const float *weights = function == blocked_depthwise ? p->weights + block * taps * CK_LANES : NULL;
    vf bias = vset(0);
    if (p->epilogue.row_bias) {
      size_t left = p->channels - block * CK_LANES;
      bias = vload_part(p->epilogue.row_bias + block * CK_LANES, left < CK_LANES ? left : CK_LANES);
    }
    for (size_t row = first_row; row < last_row; row++) {
      ptrdiff_t top = (ptrdiff_t)(copies ? row - first_row : row) * rows.stride - rows.before;
      ptrdiff_t row_first = blocked_first_tap(&rows, top), row_last = blocked_last_tap(&rows, top);
      size_t at = p->is_rows ? (plane / blocks * height + row) * w->out_width * pitch + block * CK_LANES
                             : (plane * height + row) * w->out_width * CK_LANES;
      const float *line = x + top * (ptrdiff_t)w->width * CK_LANES;
      float *y = p->y + at;
      const float *residual = p->epilogue.residual ? p->epilogue.residual + at : NULL;
#define CK_BLOCKED_WINDOW_TILE(pixels, column, first, last)                                                      \
  blocked_window_tile(                                                                                           \
    p, w, function, line + ((column)*stride - columns.before) * CK_LANES, weights, y + (size_t)(column)*pitch,   \
    residual ? residual + (size_t)(column)*pitch : NULL, pitch, bias, pixels, stride, row_first, row_last, first, last,      \
    vset(function == blocked_average ? p->row_counts[row] * p->column_counts[column] : 1), planes)
      ptrdiff_t column = 0;
      if (is_line) {
        (columns.kernel == 3       ? CK_NAME(ck_f32_blocked_line_3)
           : columns.kernel == 5 ? CK_NAME(ck_f32_blocked_line_5)
                                 : CK_NAME(ck_f32_blocked_line_7))(
          p, line - columns.before * CK_LANES, w->dilation_y * w->width * CK_LANES, weights, y, residual, pitch, bias,
          w->out_width, &columns, row_first, row_last, planes);
        column = width;
      }
      for (; column < inner; column++) {
        ptrdiff_t start = column * stride - columns.before;
        CK_BLOCKED_WINDOW_TILE(1, column, blocked_first_tap(&columns, start), blocked_last_tap(&columns, start));
      }
      for (; column + blocked_window_pixels <= outer; column += blocked_window_pixels)
        CK_BLOCKED_WINDOW_TILE(blocked_window_pixels, column, 0, columns.kernel);
#define CK_BLOCKED_WINDOW_CASE(pixels) \
  case pixels: CK_BLOCKED_WINDOW_TILE(pixels, column, 0, columns.kernel); break;
      switch (outer - column) {
        CK_BLOCKED_WINDOW_CASE(7)
        CK_BLOCKED_WINDOW_CASE(6)
        CK_BLOCKED_WINDOW_CASE(5)
        CK_BLOCKED_WINDOW_CASE(4)
        CK_BLOCKED_WINDOW_CASE(3)
        CK_BLOCKED_WINDOW_CASE(2)
        CK_BLOCKED_WINDOW_CASE(1)
      }
      column = blocked_most(column, outer);
      for (; column < width; column++) {
        ptrdiff_t start = column * stride - columns.before;
        CK_BLOCKED_WINDOW_TILE(1, column, blocked_first_tap(&columns, start), blocked_last_tap(&columns, start));
      }
      if (p->epilogue.map && !p->is_rows)
        p->epilogue.map(y, y, w->out_width * CK_LANES, p->epilogue.map_a, p->epilogue.map_b);
      for (size_t i = 0; p->epilogue.map && p->is_rows && i < w->out_width; i++)
        p->epilogue.map(y + i * pitch, y + i * pitch, CK_LANES, p->epilogue.map_a, p->epilogue.map_b);
    }
  }
}

#define CK_BLOCKED_WINDOW(name, function, stride)                                                           \
  static void CK_NAME(ck_f32_blocked_##name)(const void *args, size_t begin, size_t end, void *scratch) {   \
    blocked_window_run(args, function, stride, begin, end, scratch);                                        \
  }
CK_BLOCKED_WINDOW(depthwise_s1, blocked_depthwise, 1)
CK_BLOCKED_WINDOW(depthwise_s2, blocked_depthwise, 2)
CK_BLOCKED_WINDOW(depthwise_any, blocked_depthwise, 0)
CK_BLOCKED_WINDOW(maximum, blocked_maximum, 0)
CK_BLOCKED_WINDOW(average, blocked_average, 0)

static void CK_NAME(ck_f32_blocked_depthwise)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_blocked_window_args *p = args;
  ck_run run = p->window.stride_x == 1 ? CK_NAME(ck_f32_blocked_depthwise_s1)
    : p->window.stride_x == 2          ? CK_NAME(ck_f32_blocked_depthwise_s2)
                                       : CK_NAME(ck_f32_blocked_depthwise_any);
  run(args, begin, end, scratch);
}

static void CK_NAME(ck_f32_blocked_pool)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_blocked_window_args *p = args;
  ck_run run = p->function == ck_pool_maximum ? CK_NAME(ck_f32_blocked_maximum) : CK_NAME(ck_f32_blocked_average);
  run(args, begin, end, scratch);
}
