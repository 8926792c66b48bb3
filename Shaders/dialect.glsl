// The macros of Shaders/shared in GLSL; Shaders/opencl/dialect.cl has the same macros in OpenCL C.
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "functions.glsl"
#include "integers.glsl"

#ifdef PARTS
#define STORED float
#else
#define STORED STORED_FLOAT
#endif

#define FUNCTION
#define UNROLL [[unroll]]
#define CONSTANT(id, type, name, value) layout(constant_id = id) const type name = value;
#define PARAMETERS(kernel, fields) layout(push_constant) uniform Parameters { fields } s;

// Element types. Each takes two specialization constants, from `id`: the kind and the bits (VulkanTarget+GPUKernel.swift).
#define ELEMENT_TYPE(id) \
  layout(constant_id = id) const int KIND = FLOAT; \
  layout(constant_id = id + 1) const int BITS = 32;
#define INDEX_TYPE(id) layout(constant_id = id) const int INDEX_KIND = SIGNED;
#define RESULT_TYPE(id) layout(constant_id = id) const int RESULT_KIND = FLOAT;

#define FLOAT_OPERAND(slot, name) FLOATS(slot, name)
// Floats that are read one by one or in aligned vectors, as the host declares the operand.
#define FLOATS_OR_VECTORS(slot, name) FLOATS(slot, name) VECTORS(slot, name##Vectors)
#define WIDE_OPERAND(slot, name) WIDE_FLOATS(slot, name)
#define WORD_OPERAND(slot, name) WORDS(slot, name)
#define TRUTH_OPERAND(slot, name) WORDS(slot, name)
#define PACKED_OPERAND(slot, name) HALF_VECTORS(slot, name)
#define ELEMENT_OPERAND(slot, name) WORDS(slot, name)
#define INDEX_OPERAND(slot, name) WORDS(slot, name)

// The result: floats, float32, elements, elements that are also read, truth values or positions in a row.
#define FLOAT_RESULT layout(binding = 0) writeonly buffer Output { STORED y[]; };
#define WIDE_RESULT layout(binding = 0) writeonly buffer Output { float y[]; };
#define ELEMENT_RESULT layout(binding = 0) writeonly buffer Output { STORED_WORD y[]; }; STORE_(STORED_WORD)
#define CHANGED_RESULT layout(binding = 0) buffer Output { uint y[]; }; STORE_(uint)
// Elements that are written beside the result, in place of an operand, which must be a storage buffer.
#define FURTHER_RESULT(slot, name) layout(binding = slot) writeonly buffer name##Result { STORED_WORD name##Words[]; };
#define TRUTH_RESULT layout(binding = 0) writeonly buffer Output { uint y[]; };
#define POSITION_RESULT layout(binding = 0) writeonly buffer Output { uint y[]; }; STORE_(uint)
#define STORE_(type) \
  void store(uvec2 words, int index, int kind) { \
    if (isPair(kind)) { \
      y[2 * index] = type(words.x); \
      y[2 * index + 1] = type(words.y); \
    } else { \
      y[index] = type(words.x); \
    } \
  }

#define INPUT(name)
#define ENTRY(name, inputs) void main()
#define SHARE
#define SHARED_FLOATS(count) shared float shares[gl_WorkGroupSize.x * (count)];
#define SHARED_INTEGERS(name) shared int name[gl_WorkGroupSize.x];
#define SHARE_INTEGERS(name)
#define OPEN_FLOATS(name)
#define OPEN_WIDE(name)
#define OPEN_WORDS(name)
#define OPEN_TRUTHS(name)
#define OPEN_PACKED(name)
#define OPEN_ELEMENTS(name)
#define OPEN_INDICES(name)
#define OPEN_FLOAT_RESULT
#define OPEN_WIDE_RESULT
#define OPEN_ELEMENT_RESULT
#define OPEN_FURTHER_RESULT(name)
#define OPEN_TRUTH_RESULT
#define OPEN_POSITION_RESULT

#define READ(name, index) name(index)
#define READ_VECTOR(name, index) name##Vectors(index)
#define READ_WIDE(name, index) name(index)
#define READ_PACKED(name, index) name(index)
#define READ_WORD(name, index) name(index).x
#define READ_TRUTH(name, index) (name(index).x != 0u)
#define POSITION(name, index, extent) clampedPositionAt(name(index), INDEX_KIND, extent)
#define SIGNED_POSITION(name, index, extent) positionAt(name(index), INDEX_KIND, extent)
#define LONG_POSITION int
#define WRITE(value, index) y[index] = STORED(value)
#define WRITE_WIDE(value, index) y[index] = value
#define WRITE_TRUTH(holds, index) y[index] = (holds) ? 1u : 0u
#define WRITE_POSITION(value, index) store(uvec2(uint(value), 0u), index, RESULT_KIND)

// Elements of any type.
#define VALUE uvec4
#define IS_REAL (KIND == FLOAT)
#define FETCH(name, index) name(index)
#define FETCH_RESULT(index) (isPair(KIND) ? uvec4(y[2 * (index)], y[2 * (index) + 1], 0u, 0u) : uvec4(y[index], 0u, 0u, 0u))
#define WRITE_VALUE(value, index) store((value).xy, index, KIND)
#define MOVE(name, from, to) store(name(from).xy, to, KIND)
#define MOVE_FURTHER(result, name, from, to) result##Words[to] = STORED_WORD(name(from).x)
#define VALUE_OF_WORDS(low, high) uvec4(low, high, 0u, 0u)
#define IS_EQUAL(a, b) (KIND == FLOAT ? AS_FLOAT((a).x) == AS_FLOAT((b).x) : INTEGER_OF(a) == INTEGER_OF(b))
#define IS_LESS(a, b) \
  (KIND == FLOAT ? AS_FLOAT((a).x) < AS_FLOAT((b).x) : isLess(INTEGER_OF(a), INTEGER_OF(b), KIND))
#define REAL_OF(a) AS_FLOAT((a).x)
#define VALUE_OF_REAL(x) uvec4(floatBitsToUint(x), 0u, 0u, 0u)
#define SUM_OF(a, b) (KIND == FLOAT ? VALUE_OF_REAL(REAL_OF(a) + REAL_OF(b)) : FITTED_(sum(INTEGER_OF(a), INTEGER_OF(b))))
#define PRODUCT_OF(a, b) \
  (KIND == FLOAT ? VALUE_OF_REAL(REAL_OF(a) * REAL_OF(b)) : FITTED_(product(INTEGER_OF(a), INTEGER_OF(b))))
#define SMALLER_OF(a, b) \
  (KIND == FLOAT ? VALUE_OF_REAL(smaller(REAL_OF(a), REAL_OF(b))) \
    : isLess(INTEGER_OF(b), INTEGER_OF(a), KIND) ? b : a)
#define LARGER_OF(a, b) \
  (KIND == FLOAT ? VALUE_OF_REAL(larger(REAL_OF(a), REAL_OF(b))) \
    : isLess(INTEGER_OF(a), INTEGER_OF(b), KIND) ? b : a)
#define FITTED_(integer) uvec4(wrapped(integer, KIND, BITS), 0u, 0u)
#define LEAST uvec4(KIND == FLOAT ? 0xFF800000u : KIND == SIGNED ? 0x80000001u : 0u, 0u, 0u, 0u)
#define SMALL_INTEGER_OF(a) int((a).x)
#define VALUE_OF_SMALL_INTEGER(n) uvec4(uint(n), 0u, 0u, 0u)

// Integers of 64 bits, as ELEMENT_TYPE is signed or not.
#define WIDE uvec2
#define INTEGER_OF(a) wide(a, KIND)
#define INTEGER_OF_WORDS(low, high) uvec2(low, high)
#define SMALL(n) uvec2(uint(n), (n) < 0 ? 0xFFFFFFFFu : 0u)
#define LEAST_INTEGER uvec2(0u, isSigned(KIND) ? 0x80000000u : 0u)
#define LARGEST_INTEGER uvec2(0xFFFFFFFFu, isSigned(KIND) ? 0x7FFFFFFFu : 0xFFFFFFFFu)
#define IS_ZERO(a) ((a) == uvec2(0u))
#define IS_NEGATIVE(a) (isSigned(KIND) && int((a).y) < 0)
#define IS_BELOW(a, b) isLess(a, b, KIND)
#define INTEGER_SUM(a, b) sum(a, b)
#define INTEGER_PRODUCT(a, b) product(a, b)
#define INTEGER_QUOTIENT(a, b) divided(a, b, KIND)
#define INTEGER_POWER(a, b) raised(a, b, KIND)
#define SHIFTED_LEFT(a, b) shiftedLeft(a, b)
#define SHIFTED_RIGHT(a, b) shiftedRight(a, b, KIND)
#define NEGATED(a) negated(a)
#define ROUNDED_INTEGER(x) integerOf(roundEven(x), SIGNED_PAIR)
#define NUMBER_OF_INTEGER(a) floatOf(a, SIGNED_PAIR)
#define WRITE_INTEGER(a, index) store(wrapped(a, KIND, BITS), index, KIND)
#define WRITE_SATURATED(a, index) store(fitted(a, KIND, BITS), index, KIND)

// Keys of elements that compare as unsigned integers; not-a-number is the largest.
#define KEY uvec2
#define KEY_OF(a) keyOf(a, KIND)
#define INVERTED(a) ~(a)
#define IS_BEFORE(a, b) isLess(b, a, UNSIGNED)

#define FLAT_INDEX flatPosition()
#define GROUP_INDEX groupPosition()
#define GROUP_X int(gl_WorkGroupID.x)
#define GROUP_Y int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y)
#define GROUP_SIZE int(gl_WorkGroupSize.x)
#define SELF int(gl_LocalInvocationID.x)
#define BARRIER barrier()

#define NUMBER(integer) float(integer)
#define INTEGER(word) int(word)
#define WORD(integer) uint(integer)
#define AS_FLOAT(word) uintBitsToFloat(word)
#define DIVIDE(a, d) quotient(a, d, 1.0 / float(d))
#define HIGH_PRODUCT(a, b) highProduct(a, b)
#define VECTOR_OF_FOUR vec4
#define VECTOR_OF(a, b, c, d) vec4(a, b, c, d)
#define ACTIVATED(x) apply(ACTIVATION, x, s.first, s.second)
#define INFINITY infinity()
#define NOT_A_NUMBER notANumber()
#define IS_FINITE(x) isFinite(x)
#define IS_NUMBER(x) (!isUnordered(x))
#define LARGER(x, y) larger(x, y)
#define SMALLER(x, y) smaller(x, y)
#define MAGNITUDE(x) abs(x)
#define MULTIPLY_ADD(x, y, z) fma(x, y, z)
#define EXACT_MULTIPLY_ADD(x, y, z) fma(x, y, z)
// Declares a number whose operations are each rounded.
#define UNFUSED(name, expression) precise float name = expression;
#define ROUNDED(x) roundEven(x)
#define EXPONENTIAL(x) exponential(x)
#define LOGARITHM(x) logarithm(x)
#define COMPENSATED_SUM(sum, v, lost) compensatedSum(sum, v, lost)

// Sets `place` along each axis before the last, innermost first, of a row in a tensor of s.sizes. AXES is their number.
#define EACH_AXIS(limit, body) \
  for (int axis = 0, rest = row; axis < AXES; axis++) { \
    const int next = DIVIDE(rest, s.sizes[axis]), place = rest - next * s.sizes[axis]; \
    body \
    rest = next; \
  }

uint highProduct(uint a, uint b) {
  uint high, low;
  umulExtended(a, b, high, low);
  return high;
}

uvec2 keyOf(uvec4 v, int kind) {
  uvec2 k = isPair(kind) ? v.xy : uvec2(v.x, 0u);
  if (kind == FLOAT) {
    bool negative = int(k.x) < 0;
    k.x = isUnordered(uintBitsToFloat(v.x)) ? 0xFFFFFFFFu
      : k.x == 0x80000000u ? k.x : negative ? ~k.x : k.x | 0x80000000u;
  }
  if (kind == SIGNED) k.x ^= 0x80000000u;
  if (kind == SIGNED_PAIR) k.y ^= 0x80000000u;
  return k;
}
