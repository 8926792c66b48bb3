// Running products along the middle axis of [outer, length, inner], computed in WIDE and brought back by FIT. A work item
// handles up to `run` neighbours along the inner axis.

typedef struct {
  int outer, length, inner, run, exclusive, reversed;
} cumulative_product_shape;

KERNEL void cumulative_product(BUFFER(x), BUFFER(y), cumulative_product_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.inner), row = get_global_id(1);
  for (int column = start; column < end; column++) {
    WIDE product = 1;
    for (int i = 0; i < s.length; i++) {
      const int place = s.reversed ? s.length - 1 - i : i;
      const size_t at = ((size_t)row * s.length + place) * s.inner + column;
      const WIDE before = product;
      product = before * x[at];
      y[at] = FIT(s.exclusive ? before : product);
    }
  }
}
