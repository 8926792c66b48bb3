// Applies an update to an element of the result, which starts as a copy of x. Needs common.glsl, integers.glsl and
// Generated/numbers.glsl.

layout(constant_id = 1) const uint FUNCTION = SCATTER_REPLACE;
layout(constant_id = 2) const int KIND = 4;         // of the elements
layout(constant_id = 3) const int BITS = 32;
layout(constant_id = 4) const int INDEX_KIND = 0;

layout(binding = 0) buffer Output { uint y[]; };
WORDS(1, positions)
WORDS(2, updates)

float combined(float element, float update) {
  switch (FUNCTION) {
  case SCATTER_ADD: return element + update;
  case SCATTER_MULTIPLY: return element * update;
  case SCATTER_MINIMUM: return smaller(element, update);
  default: return larger(element, update);
  }
}

uvec2 combined(uvec2 element, uvec2 update) {
  switch (FUNCTION) {
  case SCATTER_ADD: return sum(element, update);
  case SCATTER_MULTIPLY: return product(element, update);
  case SCATTER_MINIMUM: return isLess(update, element, KIND) ? update : element;
  default: return isLess(element, update, KIND) ? update : element;
  }
}

void scatter(int at, uvec4 update) {
  uvec2 v = update.xy;
  if (FUNCTION != SCATTER_REPLACE && KIND == FLOAT) {
    v.x = floatBitsToUint(combined(uintBitsToFloat(y[at]), uintBitsToFloat(update.x)));
  } else if (FUNCTION != SCATTER_REPLACE) {
    uvec2 element = isPair(KIND) ? uvec2(y[2 * at], y[2 * at + 1]) : wide(uvec4(y[at], 0u, 0u, 0u), KIND);
    v = wrapped(combined(element, wide(update, KIND)), KIND, BITS);
  }
  if (isPair(KIND)) {
    y[2 * at] = v.x;
    y[2 * at + 1] = v.y;
  } else {
    y[at] = v.x;
  }
}
