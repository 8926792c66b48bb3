// The positions of the best elements along the middle axis of [outer, length, inner], best first: of each run of a row,
// then of several sorted runs. Strides describe the positions written.

// An integer key; elements with larger keys come first.
static inline ulong key(ELEMENT x, int largest) {
#ifdef FLOATS
  const uint bits = as_uint(x);
  ulong k = (bits & 0x7FFFFFFF) > 0x7F800000 ? 0xFFFFFFFF
      : bits == 0x80000000 ? bits : bits >> 31 ? ~bits : bits | 0x80000000;
#else
  ulong k = (ulong)(long)x ^ ((ELEMENT)-1 < 0 ? 1UL << 63 : 0);
#endif
  return largest ? k : ~k;
}

// Whether a comes before b. Of equal keys, the first in the row comes first: `precedes` tells whether that is a.
static inline int beats(ulong a, ulong b, int precedes) { return a > b || (a == b && precedes); }

typedef struct {
  int count, length, inner, largest, span, kept;
  int outerStride, innerStride, runStride, rankStride, items;
} rank_elements_shape;

KERNEL void rank_elements(BUFFER(x), BUFFER(y), rank_elements_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(RESULT, y);
  const int start = get_global_id(0) * s.items, last = min(start + s.items, s.count);
  for (int index = start; index < last; index++) {
    const int line = index / s.inner, place = index % s.inner;
    const int outer = line / s.length, position = line % s.length, run = position / s.span;
    const global ELEMENT *elements = x + (size_t)outer * s.length * s.inner + place;
    const int first = run * s.span, end = min(first + s.span, s.length);
    const ulong own = key(x[index], s.largest);
    int rank = 0;
    for (int other = first; other < end; other++)
      rank += beats(key(elements[(size_t)other * s.inner], s.largest), own, other < position);
    if (rank < s.kept)
      y[(size_t)outer * s.outerStride + place * s.innerStride + run * s.runStride + rank * s.rankStride] = position;
  }
}

typedef struct {
  int count, length, inner, largest, span, stored, runs, arity, kept;
  int outerStride, innerStride, runStride, rankStride, items;
} rank_runs_shape;

static inline int size_of(int run, rank_runs_shape s) { return min(min(s.span, s.length - run * s.span), s.stored); }

KERNEL void rank_runs(BUFFER(x), BUFFER(positions), BUFFER(y), rank_runs_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const int, positions);
  OPEN(RESULT, y);
  const int start = get_global_id(0) * s.items, last = min(start + s.items, s.count);
  for (int index = start; index < last; index++) {
    const int row = index / s.stored;
    const int line = row / s.runs, run = row % s.runs;
    int rank = index % s.stored;
    if (rank >= size_of(run, s)) continue;
    const int outer = line / s.inner, place = line % s.inner;
    const global ELEMENT *elements = x + (size_t)outer * s.length * s.inner + place;
    const int position = positions[index];
    const ulong own = key(elements[(size_t)position * s.inner], s.largest);
    const int group = run / s.arity;
    for (int other = group * s.arity; other < min((group + 1) * s.arity, s.runs); other++) {
      if (other == run) continue;
      const global int *others = positions + ((size_t)line * s.runs + other) * s.stored;
      int low = 0, high = size_of(other, s);
      while (low < high) {
        const int middle = (low + high) / 2;
        if (beats(key(elements[(size_t)others[middle] * s.inner], s.largest), own, other < run))
          low = middle + 1;
        else
          high = middle;
      }
      rank += low;
    }
    if (rank < s.kept)
      y[(size_t)outer * s.outerStride + place * s.innerStride + group * s.runStride + rank * s.rankStride] = position;
  }
}
