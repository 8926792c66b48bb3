// Combines updates with elements of y, which is a copy of x, in the order of the updates. Negative indices count from
// the end; indices outside their axes write nothing. Needs strided_iteration.cl.

static inline ELEMENT combined(ELEMENT element, ELEMENT update) {
  const WIDE x = element, v = update;
  switch (FUNCTION) {
    case SCATTER_REPLACE: return update;
    case SCATTER_ADD: return FIT(x + v);
    case SCATTER_MULTIPLY: return FIT(x * v);
    // NaN differs from itself.
    case SCATTER_MINIMUM: return v < x || v != v ? update : element;
    default: return v > x || v != v ? update : element;
  }
}

static inline long position_at(INDEX index, int size) { return (long)index + (index < 0 ? size : 0); }

static inline bool is_inside(long position, int size) { return position >= 0 && position < size; }

// Rows along one axis; no two share an element.
typedef struct {
  int rowCount, length, rows, run, updates, updateStep, size, axisStride, step, yStep;
  int sizes[5], strides[5], yStrides[5];
} scatter_elements_shape;

KERNEL void scatter_elements(BUFFER(indices), BUFFER(updates), BUFFER(y), scatter_elements_shape s) {
  OPEN(const INDEX, indices);
  OPEN(const ELEMENT, updates);
  OPEN(ELEMENT, y);
  EACH_ROW(s) {
    const size_t from = walked(row, s.sizes, s.strides), to = walked(row, s.sizes, s.yStrides);
    EACH_PLACE(s) {
      size_t at = from + (size_t)i * s.step;
      global ELEMENT *line = y + to + (size_t)i * s.yStep;
      for (int update = 0; update < s.updates; update++, at += s.updateStep) {
        const long position = position_at(indices[at], s.size);
        if (!is_inside(position, s.size)) continue;
        global ELEMENT *target = line + position * s.axisStride;
        *target = combined(*target, updates[at]);
      }
    }
  }
}

// Slices, each given by a tuple of `depth` indices into the first axes. A work item processes `run` elements of each.
typedef struct {
  int inner, tuples, depth, run;
  int sizes[8], strides[8];
} scatter_nd_shape;

KERNEL void scatter_nd(BUFFER(indices), BUFFER(updates), BUFFER(y), scatter_nd_shape s) {
  OPEN(const INDEX, indices);
  OPEN(const ELEMENT, updates);
  OPEN(ELEMENT, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.inner);
  for (int tuple = 0; tuple < s.tuples; tuple++) {
    size_t place = 0;
    bool all_inside = true;
    for (int axis = 0; axis < s.depth; axis++) {
      const long position = position_at(indices[(size_t)tuple * s.depth + axis], s.sizes[axis]);
      all_inside = all_inside && is_inside(position, s.sizes[axis]);
      place += (size_t)position * s.strides[axis];
    }
    if (!all_inside) continue;
    global ELEMENT *target = y + place;
    for (int i = start; i < end; i++) target[i] = combined(target[i], updates[(size_t)tuple * s.inner + i]);
  }
}
