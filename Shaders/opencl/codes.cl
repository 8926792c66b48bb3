// How products read weights, LANES at a time: plain ones from a pointer that moves on, or, with CODE_BITS, codes of so
// many bits, four lanes in a word or less, whose words are followed by LANES zeros, a row of words for each block of input
// channels, and what these speak of (QuantizedOperand.swift). MEANING says what a code stands for (meanings.kernel).
//
// `BEGIN_MEANINGS` declares what `NEXT_MEANING` fills where channel c begins a row; `WEIGHT(j)` is block j of the vectors
// at w, a PLACE.
#ifdef CODE_BITS

typedef struct {
  vec scale, offset;   // offset: zero or bias
  ivec table;          // where it begins
} code_meaning;

static inline code_meaning meaning_at(const global uint *words, int at, int rowWords, float zero) {
  code_meaning meaning;
  meaning.table = JOIN(vload, LANES)(0, (const global int *)words + at);
  meaning.scale = JOIN(as_float, LANES)(meaning.table);
  meaning.offset = zero;
  if (MEANING == SHIFTED || MEANING == BIASED) meaning.offset = VECTOR((const global float *)words + at + rowWords);
  return meaning;
}

static inline vec unpacked(const global uint *words, int index, code_meaning meaning) {
  const uint word = words[index / (32 / CODE_BITS)] >> (index * CODE_BITS & 31);
  const ivec code = (ivec)(word, word >> CODE_BITS, word >> 2 * CODE_BITS, word >> 3 * CODE_BITS) & ((1 << CODE_BITS) - 1);
  if (MEANING == ENTRIES) {
    const global float *entries = (const global float *)words;
    const ivec at = meaning.table + code;
    return (vec)(entries[at.s0], entries[at.s1], entries[at.s2], entries[at.s3]);
  }
  const vec number = JOIN(convert_float, LANES)(code);
  return MEANING == BIASED ? fma(number, meaning.scale, meaning.offset) : meaning.scale * (number - meaning.offset);
}

#define BEGIN_MEANINGS \
  code_meaning meaning[BLOCKS]; \
  int row = s.rowStart + (group * parts + part) * s.rows * BLOCKS * LANES, rowEnd = 0
#define NEXT_MEANING(c) \
  if (c == rowEnd) { \
    EACH_BLOCK(j) meaning[j] = meaning_at(weights, row + j * LANES, s.rowWords, s.zero); \
    row += BLOCKS * LANES; \
    rowEnd += s.rowChannels; \
  }
#define WEIGHT(j) unpacked(weights, w + j * LANES, meaning[j])
#define PLACE int

#else

#define BEGIN_MEANINGS
#define NEXT_MEANING(c)
#define WEIGHT(j) PACKED_AT(w + j * LANES)
#define PLACE const global PACKED *

#endif
