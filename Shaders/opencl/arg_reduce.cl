// The position of the largest or smallest element along the middle axis of [outer, extent, inner]; a row has the
// elements of `inner`, of which LANES neighbours are processed together.

typedef struct {
  ROW_PARAMETERS
  uint function;   // 1 for the smallest element, plus 2 for the last of equal ones
  int extent;
} arg_reduce_shape;

KERNEL void arg_reduce(BUFFER(x), BUFFER(y), arg_reduce_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(RESULT, y);
  EACH_ROW {
    EACH_COLUMN_BY(LANES) {
      const int count = min(end - column, LANES);
      const global ELEMENT *elements = x + (size_t)row * s.extent * s.rowLength + column;
      ELEMENT best[LANES];
      int position[LANES];
      for (int i = 0; i < count; i++) {
        best[i] = elements[i];
        position[i] = 0;
      }
      for (int place = 1; place < s.extent; place++) {
        elements += s.rowLength;
        for (int i = 0; i < count; i++) {
          const ELEMENT v = elements[i];
          // NaN, which differs from itself, exceeds every number.
          const int unordered = v != v, wasUnordered = best[i] != best[i];
          const int same = v == best[i] || (unordered && wasUnordered);
          const int beyond = s.function & 1 ? v < best[i] : v > best[i];
          const int takes = (unordered ? !wasUnordered : beyond) || (s.function & 2 && same);
          best[i] = takes ? v : best[i];
          position[i] = takes ? place : position[i];
        }
      }
      for (int i = 0; i < count; i++) y[(size_t)row * s.rowLength + column + i] = position[i];
    }
  }
}
