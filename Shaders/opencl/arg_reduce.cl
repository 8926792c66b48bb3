// The position of the largest or smallest element along the middle axis of [outer, length, inner]. A work item
// processes up to LANES neighbours along the inner axis.

typedef struct {
  int outer, length, inner, smallest, last;
} arg_reduce_shape;

KERNEL void arg_reduce(BUFFER(x), BUFFER(y), arg_reduce_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(INDEX, y);
  const int tiles = (s.inner + LANES - 1) / LANES;
  const int row = get_global_id(0) / tiles, column = get_global_id(0) % tiles * LANES;
  if (row >= s.outer) return;
  const int count = min(s.inner - column, LANES);
  x += (size_t)row * s.length * s.inner + column;
  y += (size_t)row * s.inner + column;
  ELEMENT best[LANES];
  int position[LANES];
  for (int i = 0; i < count; i++) {
    best[i] = x[i];
    position[i] = 0;
  }
  for (int place = 1; place < s.length; place++) {
    x += s.inner;
    for (int i = 0; i < count; i++) {
      // NaN, which differs from itself, exceeds every number.
      const int unordered = x[i] != x[i], wasUnordered = best[i] != best[i];
      const int same = x[i] == best[i] || (unordered && wasUnordered);
      const int beyond = s.smallest ? x[i] < best[i] : x[i] > best[i];
      const int takes = (unordered ? !wasUnordered : beyond) || (s.last && same);
      best[i] = takes ? x[i] : best[i];
      position[i] = takes ? place : position[i];
    }
  }
  for (int i = 0; i < count; i++) y[i] = position[i];
}
