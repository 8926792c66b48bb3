#include "packed_row_writer.h"
#include <math.h>

/* Weights at one point: the value of the three taps' polynomial there, divided by the product of the point's
 * distances from the others. */
typedef struct {
  double point, scale;
} evaluation;

static void transform_line(size_t tile, const double *g, size_t step, double *u, size_t u_step) {
  double a = sqrt(0.5), b = sqrt(2);
  const evaluation two[] = {{0, -1}, {1, 0.5}, {-1, 0.5}};
  const evaluation four[] = {{0, 1}, {a, -1 / 1.5}, {-a, -1 / 1.5}, {b, 1 / 6.0}, {-b, 1 / 6.0}};
  const evaluation *points = tile == 2 ? two : four;
  for (size_t i = 0; i < tile + 1; i++) {
    double p = points[i].point;
    u[i * u_step] = (g[0] + p * (g[step] + p * g[2 * step])) * points[i].scale;
  }
  u[(tile + 1) * u_step] = g[2 * step];
}

void ck_pack_winograd(
  const float *w, size_t out_channels, size_t in_channels, size_t tile, size_t lanes, ck_operands type,
  float *packed) {
  size_t n = tile + 2, blocks = (out_channels + lanes - 1) / lanes, words = ck_packed_count(type, in_channels);
  for (size_t block = 0; block < blocks; block += 2) {
    size_t width = (blocks - block > 1 ? 2 : 1) * lanes, first = block * lanes;
    packed_row_writer points[36];
    for (size_t point = 0; point < n * n; point++)
      points[point] = (packed_row_writer){packed + point * words * width, width, type};
    for (size_t c = 0; c < in_channels; c++)
      for (size_t lane = 0; lane < width; lane++) {
        double g[9] = {0}, t[18], u[36];
        if (first + lane < out_channels)
          for (size_t i = 0; i < 9; i++) g[i] = w[((first + lane) * in_channels + c) * 9 + i];
        for (size_t j = 0; j < 3; j++) transform_line(tile, g + j, 3, t + j, 3);
        for (size_t i = 0; i < n; i++) transform_line(tile, t + 3 * i, 1, u + n * i, 1);
        for (size_t point = 0; point < n * n; point++) packed_row_writer_put(points + point, c, lane, (float)u[point]);
      }
    for (size_t point = 0; point < n * n; point++) packed_row_writer_end(points + point, in_channels);
    packed += n * n * words * width;
  }
}
