// The words of Shaders/shared in GLSL; Shaders/opencl/dialect.cl has the same in OpenCL C.
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "functions.glsl"

#if defined(INDICES)
#define RESULT uint
#elif defined(PARTS)
#define RESULT float
#else
#define RESULT STORED_FLOAT
#endif

#define FUNCTION
#define UNROLL [[unroll]]
#define CONSTANT(id, type, name, value) layout(constant_id = id) const type name = value;
#define PARAMETERS(fields) layout(push_constant) uniform Parameters { fields } s;
#define FLOAT_OPERAND(slot, name) FLOATS(slot, name)
#define WIDE_OPERAND(slot, name) WIDE_FLOATS(slot, name)
#define WORD_OPERAND(slot, name) WORDS(slot, name)
#define PACKED_OPERAND(slot, name) HALF_VECTORS(slot, name)
#define INDEX_OPERAND(slot, name) WORDS(slot, name)   // needs integers.glsl, and KIND, which is that of the indices
#define INPUT(name)
#define ENTRY(name, inputs) void main()
#define BEGIN
#define SHARE
#define SHARED_FLOATS(count) shared float shares[gl_WorkGroupSize.x * (count)];
#define SHARED_INTEGERS(name) shared int name[gl_WorkGroupSize.x];
#define SHARE_INTEGERS(name)
#define OPEN_FLOATS(name)
#define OPEN_WIDE(name)
#define OPEN_WORDS(name)
#define OPEN_PACKED(name)
#define OPEN_INDICES(name)
#define READ(name, index) name(index)
#define READ_WIDE(name, index) name(index)
#define READ_PACKED(name, index) name(index)
#define READ_WORD(name, index) name(index).x
#define POSITION(name, index, extent) clampedPositionAt(name(index), KIND, extent)
#define WRITE(value, index) y[index] = RESULT(value)
#define WRITE_INDEX(value, index) storeIndex(value, index)   // with INDICES alone

#define FLAT_INDEX flatPosition()
#define GROUP_INDEX groupPosition()
#define GROUP_X int(gl_WorkGroupID.x)
#define GROUP_Y int(gl_WorkGroupID.y + gl_WorkGroupID.z * gl_NumWorkGroups.y)
#define GROUP_SIZE int(gl_WorkGroupSize.x)
#define SELF int(gl_LocalInvocationID.x)
#define BARRIER barrier()

#define NUMBER(integer) float(integer)
#define INTEGER(word) int(word)
#define AS_FLOAT(word) uintBitsToFloat(word)
#define QUOTIENT(a, d, reciprocal) quotient(a, d, reciprocal)
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
#define EXPONENTIAL(x) exponential(x)
#define LOGARITHM(x) logarithm(x)
#define COMPENSATED_SUM(sum, v, lost) compensatedSum(sum, v, lost)

layout(binding = 0) writeonly buffer Output { RESULT y[]; };

#ifdef INDICES
layout(constant_id = 1) const bool PAIRS = false;   // of words in the result, the low one first

void storeIndex(int value, int index) {
  if (PAIRS) {
    y[2 * index] = uint(value);
    y[2 * index + 1] = 0u;
  } else {
    y[index] = uint(value);
  }
}
#endif
