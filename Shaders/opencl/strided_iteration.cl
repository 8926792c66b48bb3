// Broadcasting: the innermost axis is a row; up to five more axes are iterated with each operand's strides in elements,
// 0 along broadcast axes. A work item processes `rows` rows, or `run` elements of one.

static inline size_t walked(int row, const int *sizes, const int *strides) {
  size_t place = 0;
  for (int axis = 4; axis >= 0; axis--) {
    if (sizes[axis] == 1) continue;
    place += (size_t)(row % sizes[axis]) * strides[axis];
    row /= sizes[axis];
  }
  return place;
}

#define EACH_ROW(s) \
  for (int row = get_global_id(0) * s.rows, last = min(row + s.rows, s.rowCount); row < last; row++)
#define EACH_PLACE(s) \
  for (int i = get_global_id(1) * s.run, end = min(i + s.run, s.length); i < end; i++)
