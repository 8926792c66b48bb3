/* Functions of one element. */
#pragma once
#include "ck_kernels.h"
#include "vangle.h"
#include "vmath.h"

#define CK_MAP(function, expression)                                                                         \
  CK_INLINE vf map_##function(vf x, vf a, vf b) {                                                            \
    (void)a, (void)b;                                                                                        \
    return expression;                                                                                       \
  }                                                                                                          \
  static void CK_NAME(ck_f32_##function)(const float *x, float *y, size_t count, float a, float b) {         \
    vf va = vset(a), vb = vset(b);                                                                           \
    size_t i = 0;                                                                                            \
    for (; i + CK_LANES <= count; i += CK_LANES) vstore(y + i, map_##function(vload(x + i), va, vb));        \
    if (i < count) vstore_part(y + i, map_##function(vload_part(x + i, count - i), va, vb), count - i);      \
  }

#define CK_SCALAR_MAP(function, expression)                                                          \
  static void CK_NAME(ck_f32_##function)(const float *xs, float *y, size_t count, float a, float b) { \
    (void)a, (void)b;                                                                                \
    for (size_t i = 0; i < count; i++) {                                                             \
      float x = xs[i];                                                                               \
      y[i] = expression;                                                                             \
    }                                                                                                \
  }

CK_UNARY_FUNCTIONS(CK_MAP, CK_SCALAR_MAP)

/* Indexed by the functions' numbers; null for functions of booleans. */
#define CK_MAP_ENTRY(function, expression) [ck_unary_##function] = CK_NAME(ck_f32_##function),
#define CK_MAPS {CK_UNARY_FUNCTIONS(CK_MAP_ENTRY, CK_MAP_ENTRY)}

static void CK_NAME(ck_f32_unary)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_unary_args *u = args;
  size_t first = begin * ck_strip, last = end * ck_strip < u->count ? end * ck_strip : u->count;
  u->map(u->x + first, u->y + first, last - first, u->a, u->b);
}
