// Written by dev/generate-elementwise.py from dev/elementwise. Do not edit.
// Needs combine.glsl.

vec4 combine(uint function, vec4 x, vec4 y) {
  switch (function) {
  case BINARY_ADD: return x + y;
  case BINARY_SUBTRACT: return x - y;
  case BINARY_MULTIPLY: return x * y;
  case BINARY_DIVIDE: return ratio(x, y);
  case BINARY_MINIMUM: return smaller(x, y);
  case BINARY_MAXIMUM: return larger(x, y);
  case BINARY_POWER: return EACH(power);
  case BINARY_FLOOR_DIVIDE: return EACH(floorQuotient);
  case BINARY_MODULO: return EACH(modulo);
  default: return EACH(remainder);
  }
}
