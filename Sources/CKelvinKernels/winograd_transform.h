/* The transforms of Winograd's minimal filtering for three taps. Points are 0, +-sqrt(1/2), +-sqrt(2) and infinity
 * for tiles of 4 outputs, which halves the error of the usual +-1, +-2. Points are 0, +-1 and infinity for tiles of
 * 2. */
#pragma once
#include "ck_kernels.h"
#include "simd.h"

#define WINOGRAD_A 0.70710678118654752440f
#define WINOGRAD_B 1.41421356237309504880f

/* Transforms one line of a tile of inputs; `step` is the distance of elements in both. */
CK_INLINE void winograd_input_line(const size_t m, const vf *d, const size_t from, vf *v, const size_t to) {
  if (m == 2) {
    v[0] = d[2 * from] - d[0];
    v[to] = d[2 * from] + d[from];
    v[2 * to] = d[2 * from] - d[from];
    v[3 * to] = d[3 * from] - d[from];
    return;
  }
  vf a = vset(WINOGRAD_A), b = vset(WINOGRAD_B);
  vf near = vmuladd(vset(-2), d[2 * from], d[4 * from]), far = vmuladd(vset(-0.5f), d[2 * from], d[4 * from]);
  vf near_odd = vmuladd(a, d[3 * from], -b * d[from]), far_odd = vmuladd(b, d[3 * from], -a * d[from]);
  v[0] = vmuladd(vset(-2.5f), d[2 * from], d[4 * from] + d[0]);
  v[to] = near + near_odd;
  v[2 * to] = near - near_odd;
  v[3 * to] = far + far_odd;
  v[4 * to] = far - far_odd;
  v[5 * to] = vmuladd(vset(-2.5f), d[3 * from], d[5 * from] + d[from]);
}

/* Transforms one line of a tile of products. */
CK_INLINE void winograd_output_line(const size_t m, const vf *d, const size_t from, vf *y, const size_t to) {
  if (m == 2) {
    y[0] = d[0] + d[from] + d[2 * from];
    y[to] = d[from] - d[2 * from] + d[3 * from];
    return;
  }
  vf a = vset(WINOGRAD_A), b = vset(WINOGRAD_B);
  vf near = d[from] + d[2 * from], near_odd = a * (d[from] - d[2 * from]);
  vf far = d[3 * from] + d[4 * from], far_odd = b * (d[3 * from] - d[4 * from]);
  y[0] = d[0] + near + far;
  y[to] = near_odd + far_odd;
  y[2 * to] = vmuladd(vset(0.5f), near, 2 * far);
  y[3 * to] = vmuladd(vset(0.5f), near_odd, 2 * far_odd) + d[5 * from];
}

/* The three taps of a line whose values at the points are `u`, from the values at zero, a pair of points, and
 * infinity. */
CK_INLINE void winograd_taps(const size_t m, const vf *u, const size_t from, vf *g, const size_t to) {
  g[0] = m == 2 ? -u[0] : u[0];
  g[to] = (m == 2 ? 1 : -0.75f * WINOGRAD_B) * (u[from] - u[2 * from]);
  g[2 * to] = u[(m + 1) * from];
}
