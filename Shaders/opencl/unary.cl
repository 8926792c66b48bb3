// y = f(x), element by element. A work item processes `run` vectors. A kernel of all functions is slow to compile, so a
// program may contain a single one (variant.cl).

#include "variant.cl"

typedef struct {
  int count, run, code;
  float a, b;
} NAMED(unary_shape);

static inline vec NAMED(apply)(int code, float a, float b, vec x) {
  switch (code) { UNARY_CASES }
}

KERNEL void NAMED(unary)(BUFFER(x), BUFFER(y), NAMED(unary_shape) s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int start = get_global_id(0) * s.run * LANES, end = min(start + s.run * LANES, s.count);
  for (int i = start; i < end; i += LANES)
    store_part(NAMED(apply)(CODE, s.a, s.b, load_part(x + i, end - i, 1.0f)), y + i, end - i);
}
