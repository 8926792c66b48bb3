// Which of two elements comes first among the best of a line. Needs common.glsl and integers.glsl.

layout(constant_id = 1) const int KIND = 4;
layout(constant_id = 2) const bool LARGEST = true;
layout(constant_id = 3) const bool PAIRS = false;   // in the result

layout(binding = 0) writeonly buffer Output { uint y[]; };
WORDS(1, x)

// Two words, the high one last, that compare as unsigned numbers: the larger comes first.
uvec2 key(int at) {
  uvec4 v = x(at);
  uvec2 k = isPair(KIND) ? v.xy : uvec2(v.x, 0u);
  if (KIND == FLOAT) {
    bool negative = int(k.x) < 0;
    k.x = isUnordered(uintBitsToFloat(v.x)) ? 0xFFFFFFFFu
      : k.x == 0x80000000u ? k.x : negative ? ~k.x : k.x | 0x80000000u;
  }
  if (KIND == SIGNED) k.x ^= 0x80000000u;
  if (KIND == SIGNED_PAIR) k.y ^= 0x80000000u;
  return LARGEST ? k : ~k;
}

// Whether a comes before b; of equal ones that does which stands first in the line: `precedes` says whether a does.
bool beats(uvec2 a, uvec2 b, bool precedes) { return a == b ? precedes : isLess(b, a, UNSIGNED); }

void store(int at, int position) {
  if (PAIRS) {
    y[2 * at] = uint(position);
    y[2 * at + 1] = 0u;
  } else {
    y[at] = uint(position);
  }
}
