// y = f(x), element by element. A kernel of all functions is slow to compile, so a program may contain a single one
// (variant.cl).

#include "variant.cl"

typedef struct {
  ROW_PARAMETERS
  int code;
  float a, b;
} NAMED(unary_shape);

static inline vec NAMED(apply)(int code, float a, float b, vec x) {
  switch (code) { UNARY_CASES }
}

KERNEL void NAMED(unary)(BUFFER(x), BUFFER(y), NAMED(unary_shape) s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  EACH_ROW {
    EACH_COLUMN_BY(LANES) {
      const int rest = end - column;
      store_part(NAMED(apply)(CODE, s.a, s.b, load_part(x + column, rest, 1.0f)), y + column, rest);
    }
  }
}
