// Adds elements around x. Modes: 0 constant (the bits of the element), 1 reflect, 2 edge. A work item writes `run`
// elements of one row of the last axis.

typedef struct {
  int length, run, mode, value, valueHigh;
  int sizes[8], inputSizes[8], before[8];
} pad_shape;

KERNEL void pad(BUFFER(x), BUFFER(y), pad_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(ELEMENT, y);
  const int row = get_global_id(1);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.length);
  const ELEMENT filler = (ELEMENT)((ulong)(uint)s.value | (ulong)(uint)s.valueHigh << 32);
  for (int i = start; i < end; i++) {
    int rest = row, inside = 1;
    long place = 0, stride = 1;
    for (int axis = 7; axis >= 0; axis--) {
      int position = i;
      if (axis < 7) {
        position = rest % s.sizes[axis];
        rest /= s.sizes[axis];
      }
      position -= s.before[axis];
      const int size = s.inputSizes[axis];
      if (position < 0 || position >= size) {
        if (s.mode == 0) inside = 0;
        if (s.mode == 1) position = position < 0 ? -position : 2 * (size - 1) - position;
        if (s.mode == 2) position = clamp(position, 0, size - 1);
      }
      place += position * stride;
      stride *= size;
    }
    y[(size_t)row * s.length + i] = inside ? x[place] : filler;
  }
}
