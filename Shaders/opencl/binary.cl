// z = x op y with broadcasting. The innermost axis is a row. Strides are in elements, 0 along broadcast axes; those of
// the rows are 0 or 1.

#include "variant.cl"

typedef struct {
  ROW_PARAMETERS
  int code, xStep, yStep;
  int sizes[5], xStrides[5], yStrides[5];
} NAMED(binary_shape);

#ifndef HAS_QUOTIENTS
#define HAS_QUOTIENTS
// floor(x / y), exact even if the quotient rounds up to an integer.
static inline vec floor_quotient(vec x, vec y) {
  const vec q = floor(x / y), rest = fma(-q, y, x);
  const vec less = q - 1.0f, more = q + 1.0f, next = fma(-more, y, x);
  const vec exact = (y < 0.0f ? rest > 0.0f : rest < 0.0f) ? less : (y < 0.0f ? next <= 0.0f : next >= 0.0f) ? more : q;
  return fabs(q) <= 16777216.0f ? exact : q;
}

static inline vec modulo(vec x, vec y) {
  const vec rest = fmod(x, y);
  return rest != 0.0f && (rest < 0.0f) != (y < 0.0f) ? rest + y : rest;
}

#endif

static inline vec NAMED(combine)(int code, vec x, vec y) {
  switch (code) { BINARY_CASES }
  return x;
}

KERNEL void NAMED(binary)(BUFFER(x), BUFFER(y), BUFFER(z), NAMED(binary_shape) s) {
  OPEN(const STORED, x);
  OPEN(const STORED, y);
  OPEN(STORED, z);
  EACH_ROW {
    int px = 0, py = 0;
    EACH_AXIS(5, px += place * s.xStrides[axis]; py += place * s.yStrides[axis];)
    global STORED *target = z + (size_t)row * s.rowLength;
    EACH_COLUMN_BY(LANES) {
      const int rest = end - column;
      const vec left = s.xStep ? load_part(x + px + column, rest, 1.0f) : (vec)AT(x, px);
      const vec right = s.yStep ? load_part(y + py + column, rest, 1.0f) : (vec)AT(y, py);
      store_part(NAMED(combine)(CODE, left, right), target + column, rest);
    }
  }
}
