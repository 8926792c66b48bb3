// z = x op y as 1 or 0, with broadcasting. Needs strided_iteration.cl.

typedef struct {
  int rowCount, length, rows, run, code, xStep, yStep;
  int sizes[5], xStrides[5], yStrides[5];
} compare_shape;

KERNEL void compare(BUFFER(x), BUFFER(y), BUFFER(z), compare_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(const ELEMENT, y);
  OPEN(uchar, z);
  EACH_ROW(s) {
    const global ELEMENT *left = x + walked(row, s.sizes, s.xStrides);
    const global ELEMENT *right = y + walked(row, s.sizes, s.yStrides);
    global uchar *target = z + (size_t)row * s.length;
    EACH_PLACE(s) {
      const ELEMENT a = left[i * s.xStep], b = right[i * s.yStep];
      const int equal = a == b, less = a < b, greater = a > b;
      switch (s.code) {
        case COMPARE_EQUAL: target[i] = equal; break;
        case COMPARE_NOT_EQUAL: target[i] = !equal; break;
        case COMPARE_LESS: target[i] = less; break;
        case COMPARE_LESS_OR_EQUAL: target[i] = less || equal; break;
        case COMPARE_GREATER: target[i] = greater; break;
        default: target[i] = greater || equal;
      }
    }
  }
}
