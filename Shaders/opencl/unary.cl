// y = f(x), element by element. A work item handles `run` vectors.

typedef struct {
  int count, run, code;
  float a, b;
} unary_shape;

static inline vec apply(int code, float a, float b, vec x) {
  switch (code) { UNARY_CASES }
}

KERNEL void unary(BUFFER(x), BUFFER(y), unary_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int start = get_global_id(0) * s.run * LANES, end = min(start + s.run * LANES, s.count);
  for (int i = start; i < end; i += LANES)
    store_part(apply(s.code, s.a, s.b, load_part(x + i, end - i, 1.0f)), y + i, end - i);
}
