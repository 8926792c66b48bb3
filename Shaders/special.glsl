// Not-a-number and infinities, by their bits. GLSL leaves open which operand its min, max and clamp give for
// not-a-number, and compilers may take every float for a number unless a device lets us forbid it
// (SpecialValueMode.swift).
#ifndef SPECIAL_GLSL
#define SPECIAL_GLSL

bool isUnordered(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bvec4 isUnordered(vec4 x) { return greaterThan(floatBitsToUint(x) & 0x7FFFFFFFu, uvec4(0x7F800000u)); }
bool isFinite(float x) { return (floatBitsToUint(x) & 0x7F800000u) != 0x7F800000u; }
bvec4 isFinite(vec4 x) { return notEqual(floatBitsToUint(x) & 0x7F800000u, uvec4(0x7F800000u)); }

float notANumber() { return uintBitsToFloat(0x7FC00000u); }
float infinity() { return uintBitsToFloat(0x7F800000u); }

// The nearest number from `low` up, and from `high` down; x where it is not a number.
float atLeast(float x, float low) { return isUnordered(x) ? x : max(x, low); }
float atMost(float x, float high) { return isUnordered(x) ? x : min(x, high); }

// Of two elements; not-a-number where either is none.
float larger(float x, float y) { return isUnordered(y) ? y : atLeast(x, y); }
float smaller(float x, float y) { return isUnordered(y) ? y : atMost(x, y); }
vec4 larger(vec4 x, vec4 y) { return mix(mix(max(x, y), x, isUnordered(x)), y, isUnordered(y)); }
vec4 smaller(vec4 x, vec4 y) { return mix(mix(min(x, y), x, isUnordered(x)), y, isUnordered(y)); }

// A sum whose rounding errors are carried along in `lost`, until it leaves the range.
float compensatedSum(float sum, float v, inout float lost) {
  precise float corrected = v - lost;
  precise float total = sum + corrected;
  precise float error = (total - sum) - corrected;
  lost = isFinite(total) ? error : 0.0;
  return total;
}

#endif
