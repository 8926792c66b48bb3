// How operands are read. Binding 0 is the storage buffer written, 1 to 4 are operands: `FLOATS(slot, name)` declares one
// whose element at an index is `name(index)`. They are storage buffers, of which hardware reads what a group shares once,
// through its scalar path where it has one, and whose size knows no limit of texels. With TEXELS they are uniform texel
// buffers: the texture path. With IMAGES they are storage texel buffers of words, one or four a texel. Software drivers
// turn both into plain vector loads, in a function they call or in line, while they take a storage buffer element by
// element.
//
// VECTORS are of four floats. HALVES and HALF_VECTORS may lie as float16 too. WORDS are integers of 8 to 64 bits in the
// first one or two components, zeros above; but for uniform texel buffers the host says by the specialisation constant
// 20 + slot how they lie (OperandFormat.swift). WORD_VECTORS are of four words; tiles in local memory read them.
//
// With HALF all floats lie as float16, operands but for WIDE_VECTORS and WIDE_FLOATS, and results, which are declared as
// STORED_FLOATs, STORED_VECTORs or, where they are moved as they are, STORED_WORDs, and written as STORED_FLOAT(value).
// Arithmetic is in float32 all the same, but for staged_product.comp.

#ifdef HALF
#extension GL_EXT_shader_16bit_storage : require
#define STORED_FLOAT float16_t
#define STORED_VECTOR f16vec4
#define STORED_WORD uint16_t
#else
#define STORED_FLOAT float
#define STORED_VECTOR vec4
#define STORED_WORD uint
#endif

// EARLY(type, name) copies a parameter at the start of main: llvmpipe reads one for all lanes at once there, but gathers it
// lane by lane in what a loop or a branch holds.

#if defined(TEXELS) || defined(IMAGES)
#define EARLY(type, name) type name = name;
#else
#define EARLY(type, name)
#endif

#ifdef TEXELS

#define OPERAND_(slot, type, sampler, name, part) \
  layout(binding = slot) uniform sampler name##Texels; \
  type name(int index) { return texelFetch(name##Texels, index) part; }
#define FLOATS(slot, name) OPERAND_(slot, float, samplerBuffer, name, .x)
#define VECTORS(slot, name) OPERAND_(slot, vec4, samplerBuffer, name, )
#define WIDE_VECTORS(slot, name) VECTORS(slot, name)
#define WIDE_FLOATS(slot, name) FLOATS(slot, name)
#define HALVES(slot, name) FLOATS(slot, name)
#define HALF_VECTORS(slot, name) VECTORS(slot, name)
#define WORDS(slot, name) OPERAND_(slot, uvec4, usamplerBuffer, name, )
#define WORD_VECTORS(slot, name) WORDS(slot, name)

#else

// But for uniform texel buffers, whose format a view has.
const int WHOLE_WORDS = 0, PAIRS_OF_WORDS = 1, BYTES = 2, SHORTS = 3, HALF_FLOATS = 4;
#define FORMAT_(slot, name) layout(constant_id = 20 + slot) const int name##Format = WHOLE_WORDS;

float halfOf(uint pair, int index) {
  vec2 both = unpackHalf2x16(pair);
  return (index & 1) == 0 ? both.x : both.y;
}
vec4 halvesOf(uvec2 pairs) { return vec4(unpackHalf2x16(pairs.x), unpackHalf2x16(pairs.y)); }

#define WORDS(slot, name) \
  FORMAT_(slot, name) \
  WORDS_OPERAND_(slot, name) \
  uvec4 name(int index) { \
    switch (name##Format) { \
    case PAIRS_OF_WORDS: return uvec4(name##Word(2 * index), name##Word(2 * index + 1), 0u, 0u); \
    case BYTES: return uvec4(bitfieldExtract(name##Word(index >> 2), 8 * (index & 3), 8), 0u, 0u, 0u); \
    case SHORTS: return uvec4(bitfieldExtract(name##Word(index >> 1), 16 * (index & 1), 16), 0u, 0u, 0u); \
    default: return uvec4(name##Word(index), 0u, 0u, 0u); \
    } \
  }

#ifdef IMAGES

#define WORDS_OPERAND_(slot, name) \
  layout(binding = slot, r32ui) readonly uniform uimageBuffer name##Texels; \
  uint name##Word(int index) { return imageLoad(name##Texels, index).x; }
#define VECTORS_OPERAND_(slot, name) \
  layout(binding = slot, rgba32ui) readonly uniform uimageBuffer name##Texels; \
  uvec4 name##Vector(int index) { return imageLoad(name##Texels, index); }

#define FLOATS(slot, name) \
  WORDS_OPERAND_(slot, name) \
  float name(int index) { return uintBitsToFloat(name##Word(index)); }
#define VECTORS(slot, name) \
  VECTORS_OPERAND_(slot, name) \
  vec4 name(int index) { return uintBitsToFloat(name##Vector(index)); }
#define WIDE_VECTORS(slot, name) VECTORS(slot, name)
#define WIDE_FLOATS(slot, name) FLOATS(slot, name)
#define HALVES(slot, name) \
  FORMAT_(slot, name) \
  WORDS_OPERAND_(slot, name) \
  float name(int index) { \
    return name##Format == HALF_FLOATS ? halfOf(name##Word(index >> 1), index) : uintBitsToFloat(name##Word(index)); \
  }
#define HALF_VECTORS(slot, name) \
  FORMAT_(slot, name) \
  VECTORS_OPERAND_(slot, name) \
  vec4 name(int index) { \
    if (name##Format != HALF_FLOATS) return uintBitsToFloat(name##Vector(index)); \
    uvec4 eight = name##Vector(index >> 1); \
    return halvesOf((index & 1) == 0 ? eight.xy : eight.zw); \
  }

#else

#define OPERAND_(slot, type, name) \
  layout(binding = slot) readonly buffer name##Operand { type name##Elements[]; };
#define WORDS_OPERAND_(slot, name) \
  layout(binding = slot) readonly buffer name##WordsOperand { uint name##Words[]; }; \
  uint name##Word(int index) { return name##Words[index]; }

#define FLOATS(slot, name) \
  OPERAND_(slot, STORED_FLOAT, name) \
  float name(int index) { return float(name##Elements[index]); }
#define VECTORS(slot, name) \
  OPERAND_(slot, STORED_VECTOR, name) \
  vec4 name(int index) { return vec4(name##Elements[index]); }
#define WIDE_VECTORS(slot, name) \
  OPERAND_(slot, vec4, name) \
  vec4 name(int index) { return name##Elements[index]; }
#define WIDE_FLOATS(slot, name) \
  OPERAND_(slot, float, name) \
  float name(int index) { return name##Elements[index]; }
#define WORD_VECTORS(slot, name) \
  OPERAND_(slot, uvec4, name) \
  uvec4 name(int index) { return name##Elements[index]; }
#ifdef HALF
#define HALVES(slot, name) FLOATS(slot, name)
#define HALF_VECTORS(slot, name) VECTORS(slot, name)
#else
#define HALVES(slot, name) \
  FORMAT_(slot, name) \
  OPERAND_(slot, float, name) \
  WORDS_OPERAND_(slot, name) \
  float name(int index) { \
    return name##Format == HALF_FLOATS ? halfOf(name##Word(index >> 1), index) : name##Elements[index]; \
  }
#define HALF_VECTORS(slot, name) \
  FORMAT_(slot, name) \
  OPERAND_(slot, vec4, name) \
  WORDS_OPERAND_(slot, name) \
  vec4 name(int index) { \
    if (name##Format != HALF_FLOATS) return name##Elements[index]; \
    return halvesOf(uvec2(name##Word(2 * index), name##Word(2 * index + 1))); \
  }
#endif

#endif
#endif
