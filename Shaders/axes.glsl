// The offset of the element at an index of up to four (merged) axes, innermost axis first. Needs common.glsl.
int address(int index, int size[4], int stride[4]) {
  int rest = index, at = 0;
  for (int axis = 0; axis < 4; axis++) {
    int outer = quotient(rest, size[axis], 1.0 / float(size[axis]));
    at += (rest - outer * size[axis]) * stride[axis];
    rest = outer;
  }
  return at;
}
