// The macros of Shaders/shared in OpenCL C; Shaders/dialect.glsl has the same macros in GLSL. An item works on single
// numbers, or on vectors of four if LANES is four. A tensor's elements are counted in 32 bits. Several programs may be
// joined, each with macros of its own for element types, so no function here depends on those.
#ifndef DIALECT
#define DIALECT

#ifdef PARTS
#define WRITE(value, index) y[index] = value
#define OPEN_FLOAT_RESULT OPEN(float, y)
#else
#define WRITE(value, index) PUT(value, y, index)
#define OPEN_FLOAT_RESULT OPEN(STORED, y)
#endif

#define FUNCTION static inline
#define UNROLL _Pragma("unroll")
// The host defines `name`, except for AXES, which EACH_AXIS replaces by a limit, and SELECTED, which is a parameter.
#define CONSTANT(id, type, name, value)
#define SELECTED s.function
#define PARAMETERS(kernel, fields) typedef struct { fields } kernel##_parameters;

// The host defines the types ELEMENT, INDEX and RESULT. For elements that a kernel computes with, it also defines WIDE,
// FIT, SATURATE, KIND and LEAST (ScalarType+Kernels.swift).
#define ELEMENT_TYPE(id)
#define INDEX_TYPE(id)
#define RESULT_TYPE(id)

#define FLOAT_OPERAND(slot, name)
#define FLOATS_OR_VECTORS(slot, name)
#define WIDE_OPERAND(slot, name)
#define WORD_OPERAND(slot, name)
#define TRUTH_OPERAND(slot, name)
#define PACKED_OPERAND(slot, name)
#define ELEMENT_OPERAND(slot, name)
#define INDEX_OPERAND(slot, name)
#define FLOAT_RESULT
#define WIDE_RESULT
#define ELEMENT_RESULT
#define CHANGED_RESULT
#define FURTHER_RESULT(slot, name)
#define TRUTH_RESULT
#define POSITION_RESULT

#define INPUT(name) BUFFER(name),
#define ENTRY(name, inputs) KERNEL void name(inputs BUFFER(y), name##_parameters s)
// Local memory is declared in the kernel alone: if it is passed to a function, PoCL 3.1 shares it between work groups
// that run at the same time.
#define SHARE local float shares[GROUP * SHARES]
#define SHARED_FLOATS(count)
#define SHARE_INTEGERS(name) local int name[GROUP]
#define SHARED_INTEGERS(name)
#define OPEN_FLOATS(name) OPEN(const STORED, name)
#define OPEN_WIDE(name) OPEN(const float, name)
#define OPEN_PACKED(name) OPEN(const PACKED, name)
#define OPEN_WORDS(name) OPEN(const uint, name)
#define OPEN_TRUTHS(name) OPEN(const uchar, name)
#define OPEN_ELEMENTS(name) OPEN(const ELEMENT, name)
#define OPEN_INDICES(name) OPEN(const INDEX, name)
#define OPEN_WIDE_RESULT OPEN(float, y)
#define OPEN_ELEMENT_RESULT OPEN(ELEMENT, y)
#define OPEN_FURTHER_RESULT(name) OPEN(ELEMENT, name)
#define OPEN_TRUTH_RESULT OPEN(uchar, y)
#define OPEN_POSITION_RESULT OPEN(RESULT, y)

#define READ(name, index) AT(name, index)
#define READ_VECTOR(name, index) LOAD(name + 4 * (index))
#define READ_WIDE(name, index) name[index]
#define READ_PACKED(name, index) PACKED_AT(name + 4 * (index))
#define READ_WORD(name, index) name[index]
#define READ_TRUTH(name, index) (name[index] != 0)
#define POSITION(name, index, extent) clamped_position((long)name[index], extent)
#define SIGNED_POSITION(name, index, extent) signed_position((long)name[index], extent)
#define LONG_POSITION long
#define WRITE_WIDE(value, index) y[index] = value
#define WRITE_TRUTH(holds, index) y[index] = holds
#define WRITE_POSITION(value, index) y[index] = value

#define VALUE ELEMENT
#define IS_REAL ((ELEMENT)0.5f != 0)
#define FETCH(name, index) name[index]
#define FETCH_RESULT(index) y[index]
#define WRITE_VALUE(value, index) y[index] = value
#define MOVE(name, from, to) y[to] = name[from]
#define MOVE_FURTHER(result, name, from, to) result[to] = name[from]
#define VALUE_OF_WORDS(low, high) (ELEMENT)((ulong)(low) | (ulong)(high) << 32)
#define IS_EQUAL(a, b) ((a) == (b))
#define IS_LESS(a, b) ((a) < (b))
#define REAL_OF(a) (float)(a)
#define VALUE_OF_REAL(x) (ELEMENT)(x)
#define SUM_OF(a, b) FIT((WIDE)(a) + (WIDE)(b))
#define PRODUCT_OF(a, b) FIT((WIDE)(a) * (WIDE)(b))
// Not-a-number differs from itself.
#define SMALLER_OF(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))
#define LARGER_OF(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))
#define SMALL_INTEGER_OF(a) (int)(a)
#define VALUE_OF_SMALL_INTEGER(n) (ELEMENT)(n)

#define INTEGER_OF(a) (WIDE)(a)
#define INTEGER_OF_WORDS(low, high) (WIDE)((ulong)(low) | (ulong)(high) << 32)
#define SMALL(n) (WIDE)(n)
#define LEAST_INTEGER ((WIDE)-1 < 0 ? (WIDE)LONG_MIN : 0)
#define LARGEST_INTEGER ((WIDE)-1 < 0 ? (WIDE)LONG_MAX : (WIDE)-1)
#define IS_ZERO(a) ((a) == 0)
#define IS_NEGATIVE(a) ((a) < 0)
#define IS_BELOW(a, b) ((a) < (b))
#define INTEGER_SUM(a, b) ((a) + (b))
#define INTEGER_PRODUCT(a, b) ((a) * (b))
#define INTEGER_QUOTIENT(a, b) JOIN(KIND, _quotient)(a, b)
#define INTEGER_POWER(a, b) JOIN(KIND, _power)(a, b)
#define SHIFTED_LEFT(a, b) ((b) < 0 || (b) > 63 ? 0 : (a) << (b))
#define SHIFTED_RIGHT(a, b) JOIN(KIND, _shift_right)(a, b)
#define NEGATED(a) (-(a))
#define ROUNDED_INTEGER(x) convert_long_sat(rint(x))
#define NUMBER_OF_INTEGER(a) convert_float(a)
#define WRITE_INTEGER(a, index) y[index] = FIT(a)
#define WRITE_SATURATED(a, index) y[index] = SATURATE(a)

#define KEY ulong
#define KEY_OF(a) JOIN(KIND, _key)(a)
#define INVERTED(a) ~(a)
#define IS_BEFORE(a, b) ((a) > (b))

// For a slice of a grid, groups are numbered from the beginning of the whole grid.
#define GROUP_INDEX (int)(get_global_id(0) / GROUP)
#define GROUP_X GROUP_INDEX
#define GROUP_Y (int)get_global_id(1)
#define GROUP_SIZE GROUP
#define SELF (int)get_local_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)

#define NUMBER(integer) (float)(integer)
#define INTEGER(word) (int)(word)
#define WORD(integer) (uint)(integer)
#define AS_FLOAT(word) as_float(word)
#define DIVIDE(a, d) ((a) / (d))
#define HIGH_PRODUCT(a, b) mul_hi(a, b)
#define VECTOR_OF_FOUR float4
#define VECTOR_OF(a, b, c, d) (float4)(a, b, c, d)
#define ACTIVATED(x) activate(ACTIVATION, s.first, s.second, (vec)(x)).s0
#define NOT_A_NUMBER NAN
#define IS_FINITE(x) isfinite(x)
#define IS_NUMBER(x) (!isnan(x))
#define LARGER(x, y) ((x) > (y) || isnan(x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || isnan(x) ? (x) : (y))
#define MAGNITUDE(x) fabs(x)
#define UNFUSED(name, expression) float name; { _Pragma("OPENCL FP_CONTRACT OFF") name = expression; }
#define EXACT_MULTIPLY_ADD(x, y, z) fma(x, y, z)
#define ROUNDED(x) rint(x)
#define EXPONENTIAL(x) exp(x)
#define LOGARITHM(x) log(x)
#define COMPENSATED_SUM(sum, v, lost) compensated_sum(sum, v, &lost)

// A sum whose rounding error is carried in `lost` while the sum is finite.
static inline float compensated_sum(float sum, float v, float *lost) {
  const float corrected = v - *lost, total = sum + corrected;
  *lost = isfinite(total) ? (total - sum) - corrected : 0.0f;
  return total;
}

// An index into an axis: counted from the end if negative.
static inline long signed_position(long index, int extent) { return index < 0 ? index + extent : index; }

// The same, clamped to the axis.
static inline int clamped_position(long index, int extent) {
  return (int)clamp(signed_position(index, extent), 0L, (long)extent - 1);
}

// Keys of elements that compare as unsigned integers; not-a-number is the largest.
static inline ulong float_key(float x) {
  const uint bits = as_uint(x);
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? 0xFFFFFFFF
      : bits == 0x80000000 ? bits : bits >> 31 ? ~bits : bits | 0x80000000;
}
static inline ulong signed_key(long x) { return (ulong)x ^ 1UL << 63; }
static inline ulong unsigned_key(ulong x) { return x; }

// Integers of 64 bits. A quotient is truncated, and 0 if y is 0. Dividing the most negative number by -1 traps on some
// processors.
static inline long signed_quotient(long x, long y) { return y == 0 ? 0 : y == -1 ? -x : x / y; }
static inline ulong unsigned_quotient(ulong x, ulong y) { return y == 0 ? 0 : x / y; }

// Exponentiation by squaring. Negative exponents give 1, -1, or 0.
static inline ulong unsigned_power(ulong x, ulong y) {
  ulong result = 1;
  for (; y > 0; y >>= 1, x *= x)
    if (y & 1) result *= x;
  return result;
}
static inline long signed_power(long x, long y) {
  if (y < 0) return x == 1 || (x == -1 && !(y & 1)) ? 1 : x == -1 ? -1 : 0;
  return (long)unsigned_power((ulong)x, (ulong)y);
}

static inline ulong unsigned_shift_right(ulong x, ulong y) { return y > 63 ? 0 : x >> y; }
static inline long signed_shift_right(long x, long y) { return y < 0 || y > 63 ? (x < 0 ? -1 : 0) : x >> y; }
#endif
