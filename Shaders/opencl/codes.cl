// Reads the weights of products, LANES at a time. Plain weights come from a pointer that advances. With CODE_BITS,
// weights are codes of CODE_BITS bits, four lanes in a word or less. Words of codes are followed by LANES zeros, a row
// of words for each block of input channels, and the scales, biases or tables of these words (QuantizedOperand.swift).
// MEANING is the way that a code becomes a number (meanings.kernel).
//
// `BEGIN_MEANINGS` declares the variables that `NEXT_MEANING` sets when channel c begins a row; `WEIGHT(j)` is block j
// of the vectors at w, a PLACE.
#ifdef CODE_BITS

typedef struct {
  vec scale, offset;   // offset: zero or bias
  ivec table;          // its first index
} code_meaning;

// No table begins after the word `lastTable`.
static inline code_meaning meaning_at(const global uint *words, int at, int rowWords, int lastTable, float zero) {
  code_meaning meaning;
  const ivec bits = JOIN(vload, LANES)(0, (const global int *)words + at);
  meaning.table = clamp(bits, 0, lastTable);
  meaning.scale = JOIN(as_float, LANES)(bits);
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
    EACH_BLOCK(j) meaning[j] = meaning_at(weights, row + j * LANES, s.rowWords, s.lastTable, s.zero); \
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
