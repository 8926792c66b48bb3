#include "blocked_band.h"

size_t ck_blocked_band_elements(const ck_window *w, size_t channels, size_t out_rows) {
  blocked_band band = blocked_plan(w, out_rows);
  return band.rows * band.row * channels;
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
  float *packed) {
  size_t group = is_planar ? 1 : lanes, blocks = (out_channels + lanes - 1) / lanes;
  for (size_t block = 0; block < blocks; block += 2) {
    size_t width = (blocks - block > 1 ? 2 : 1) * lanes, first = block * lanes;
    for (size_t channel = 0; channel < in_channels; channel += group)
      for (size_t tap = 0; tap < taps; tap++)
        for (size_t c = channel; c < channel + group && c < in_channels; c++)
          for (size_t lane = 0; lane < width; lane++)
            *packed++ =
              first + lane < out_channels ? w[((first + lane) * in_channels + c) * taps + tap] : 0;
  }
}

void ck_pack_blocked_groups(
  const float *w, size_t channels, size_t width, size_t taps, size_t lanes, float *packed) {
  size_t step = width > lanes ? width : lanes;
  for (size_t start = 0; start < channels; start += step) {
    size_t end = channels - start < step ? channels : start + step, blocks = (end - start + lanes - 1) / lanes;
    for (size_t block = 0; block < blocks; block += 2) {
      size_t count = (blocks - block > 1 ? 2 : 1) * lanes, first = start + block * lanes;
      for (size_t channel = start; channel < end; channel += lanes)
        for (size_t tap = 0; tap < taps; tap++)
          for (size_t c = channel; c < channel + lanes && c < end; c++)
            for (size_t out = first; out < first + count; out++)
              *packed++ = out < end && out / width == c / width ? w[(out * width + c % width) * taps + tap] : 0;
    }
  }
}

void ck_pack_blocked_lines(const float *w, size_t channels, size_t taps, size_t lanes, float *packed) {
  for (size_t first = 0; first < channels; first += lanes)
    for (size_t tap = 0; tap < taps; tap++)
      for (size_t lane = 0; lane < lanes; lane++)
        *packed++ = first + lane < channels ? w[(first + lane) * taps + tap] : 0;
}

/* Pixels that are moved together: their lines of both layouts stay in the cache. */
enum { strip = 64 };

void ck_blocks_from_planes_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_blocks_args *b = args;
  size_t blocks = (b->channels + b->lanes - 1) / b->lanes;
  for (size_t item = begin; item < end; item++) {
    size_t image = item / blocks, first = item % blocks * b->lanes;
    const float *x = b->x + (image * b->channels + first) * b->area;
    float *y = b->y + item * b->area * b->lanes;
    size_t lanes = b->channels - first < b->lanes ? b->channels - first : b->lanes;
    for (size_t at = 0; at < b->area; at += strip) {
      size_t stop = b->area - at < strip ? b->area : at + strip;
      for (size_t lane = 0; lane < b->lanes; lane++)
        for (size_t p = at; p < stop; p++) y[p * b->lanes + lane] = lane < lanes ? x[lane * b->area + p] : 0;
    }
  }
}

void ck_planes_from_blocks_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_blocks_args *b = args;
  size_t blocks = (b->channels + b->lanes - 1) / b->lanes;
  for (size_t item = begin; item < end; item++) {
    size_t image = item / blocks, first = item % blocks * b->lanes;
    const float *x = b->x + item * b->area * b->lanes;
    float *y = b->y + (image * b->channels + first) * b->area;
    size_t lanes = b->channels - first < b->lanes ? b->channels - first : b->lanes;
    for (size_t at = 0; at < b->area; at += strip) {
      size_t stop = b->area - at < strip ? b->area : at + strip;
      for (size_t lane = 0; lane < lanes; lane++)
        for (size_t p = at; p < stop; p++) y[lane * b->area + p] = x[p * b->lanes + lane];
    }
  }
}
