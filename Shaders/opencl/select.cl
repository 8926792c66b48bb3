// z = x where the condition holds, else y, with broadcasting. Needs strided_iteration.cl.

typedef struct {
  int rowCount, length, rows, run, conditionStep, xStep, yStep;
  int sizes[5], conditionStrides[5], xStrides[5], yStrides[5];
} select_shape;

KERNEL void select_elements(BUFFER(condition), BUFFER(x), BUFFER(y), BUFFER(z), select_shape s) {
  OPEN(const uchar, condition);
  OPEN(const ELEMENT, x);
  OPEN(const ELEMENT, y);
  OPEN(ELEMENT, z);
  EACH_ROW(s) {
    const global uchar *choice = condition + walked(row, s.sizes, s.conditionStrides);
    const global ELEMENT *left = x + walked(row, s.sizes, s.xStrides);
    const global ELEMENT *right = y + walked(row, s.sizes, s.yStrides);
    global ELEMENT *target = z + (size_t)row * s.length;
    EACH_PLACE(s) target[i] = choice[i * s.conditionStep] ? left[i * s.xStep] : right[i * s.yStep];
  }
}
