// Running sums or products along the middle axis of [outer, length, inner], computed in WIDE and converted by FIT. A
// work item processes up to `run` neighbours along the inner axis.

typedef struct {
  int outer, length, inner, run, product, exclusive, reversed;
} cumulative_reduce_shape;

KERNEL void cumulative_reduce(BUFFER(x), BUFFER(y), cumulative_reduce_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.inner), row = get_global_id(1);
  for (int column = start; column < end; column++) {
    WIDE total = s.product ? 1 : 0, lost = 0;
    for (int i = 0; i < s.length; i++) {
      const int place = s.reversed ? s.length - 1 - i : i;
      const size_t at = ((size_t)row * s.length + place) * s.inner + column;
      const WIDE before = total;
      if (s.product) {
        total = before * x[at];
      } else {
        // The sum is compensated while the total is finite; compensation changes nothing for integers.
        const WIDE corrected = x[at] - lost;
        total = before + corrected;
        lost = total - total == 0 ? (total - before) - corrected : 0;
      }
      y[at] = FIT(s.exclusive ? before : total);
    }
  }
}
