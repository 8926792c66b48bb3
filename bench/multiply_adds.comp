// The multiply-adds of a plain shader: SUMS independent chains of vectors in registers.
#version 450

#if SUMS == 1
#define EACH(step) step(0)
#elif SUMS == 2
#define EACH(step) step(0) step(1)
#elif SUMS == 3
#define EACH(step) step(0) step(1) step(2)
#elif SUMS == 4
#define EACH(step) step(0) step(1) step(2) step(3)
#elif SUMS == 8
#define EACH(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)
#endif
#define TWICE(statements) statements statements
#define SIXTEEN(statements) TWICE(TWICE(TWICE(TWICE(statements))))
#define START(n) sums[n] = factor * float(n + 1);
#define MULTIPLY(n) sums[n] = sums[n] * factor + term;
#define ADD(n) total += sums[n];

layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Values { vec4 values[]; };
layout(push_constant) uniform Constants { uint steps; };

void main() {
  uint item = gl_GlobalInvocationID.x;
  vec4 factor = values[item], term = factor * 0.5, total = term, sums[SUMS];
  EACH(START)
  for (uint step = 0; step < steps; step++) { SIXTEEN(EACH(MULTIPLY)) }
  EACH(ADD)
  // Values are above 0, so that none is ever written: the next submission finds the same.
  if (total.x < 0.0) values[item] = total;
}
