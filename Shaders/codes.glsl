// Weights as codes of few bits, four to a vector, which are unpacked as they are read (QuantizedOperand.swift). The operand's
// words are the codes, from `rowStart` on a row of words for each block of input channels, and what these speak of.
//
// `CODES(slot, name, constant)` declares them: the specialisation constants `constant` and the next are a code's bits and
// its meaning, a `CodeMeaning` is that of four outputs, and `name(index, meaning)` a vector.

#include "shared/meanings.kernel"

struct CodeMeaning {
  vec4 scale, offset;   // offset: zero or bias
  ivec4 table;          // offset of the table
};

#define CODES(slot, name, constant) \
  layout(constant_id = constant) const int name##Bits = 8; \
  layout(constant_id = constant + 1) const int name##Meaning = MULTIPLES; \
  WORDS(slot, name##Words_) \
  /* Of the outputs of four words; zeros and biases are `rowWords` further. No table begins after `lastTable`. */ \
  CodeMeaning name##MeaningAt(ivec4 at, int rowWords, int lastTable, float zero) { \
    CodeMeaning result; \
    result.offset = vec4(zero); \
    [[unroll]] for (int j = 0; j < 4; j++) { \
      uint word = name##Words_(at[j]).x; \
      result.scale[j] = uintBitsToFloat(word); \
      result.table[j] = int(min(word, uint(lastTable))); \
      if (name##Meaning == SHIFTED || name##Meaning == BIASED) { \
        result.offset[j] = uintBitsToFloat(name##Words_(at[j] + rowWords).x); \
      } \
    } \
    return result; \
  } \
  vec4 name(int index, CodeMeaning meaning) { \
    uint word = name##Words_(index * name##Bits >> 3).x >> (index * 4 * name##Bits & 31); \
    uvec4 code = uvec4(word, word >> name##Bits, word >> 2 * name##Bits, word >> 3 * name##Bits); \
    code &= (1u << name##Bits) - 1u; \
    if (name##Meaning == ENTRIES) { \
      vec4 result; \
      [[unroll]] for (int j = 0; j < 4; j++) { \
        result[j] = uintBitsToFloat(name##Words_(meaning.table[j] + int(code[j])).x); \
      } \
      return result; \
    } \
    if (name##Meaning == BIASED) return fma(vec4(code), meaning.scale, meaning.offset); \
    return meaning.scale * (vec4(code) - meaning.offset); \
  }
