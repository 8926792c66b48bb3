// The macros of Shaders/shared in OpenCL C; Shaders/dialect.glsl has the same macros in GLSL. They are for groups of
// many items. An item works on single numbers, or on vectors of four if LANES is four. A tensor's elements are counted
// in 32 bits.

#if defined(INDICES)
#define RESULT INDEX
#define WRITE_INDEX(value, index) y[index] = value
#elif defined(PARTS)
#define RESULT float
#define WRITE(value, index) y[index] = value
#else
#define RESULT STORED
#define WRITE(value, index) PUT(value, y, index)
#endif

#define FUNCTION static inline
#define UNROLL _Pragma("unroll")
#define CONSTANT(id, type, name, value)   // the host defines `name`
#define PARAMETERS(fields) typedef struct { fields } parameters;
#define FLOAT_OPERAND(slot, name)
#define WIDE_OPERAND(slot, name)
#define WORD_OPERAND(slot, name)
#define PACKED_OPERAND(slot, name)
#define INDEX_OPERAND(slot, name)
#define INPUT(name) BUFFER(name),
#define ENTRY(name, inputs) KERNEL void name(inputs BUFFER(y), parameters s)
#define BEGIN OPEN(RESULT, y)
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
#define OPEN_INDICES(name) OPEN(const INDEX, name)
#define READ(name, index) AT(name, index)
#define READ_WIDE(name, index) name[index]
#define READ_PACKED(name, index) PACKED_AT(name + 4 * (index))
#define READ_WORD(name, index) name[index]
#define POSITION(name, index, extent) clamped_position((long)name[index], extent)

// For a slice of a grid, groups are numbered from the beginning of the whole grid.
#define GROUP_INDEX (int)(get_global_id(0) / GROUP)
#define GROUP_X GROUP_INDEX
#define GROUP_Y (int)get_global_id(1)
#define GROUP_SIZE GROUP
#define FLAT_INDEX (int)get_global_id(0)
#define SELF (int)get_local_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)

#define NUMBER(integer) (float)(integer)
#define INTEGER(word) (int)(word)
#define AS_FLOAT(word) as_float(word)
#define QUOTIENT(a, d, reciprocal) ((a) / (d))
#define VECTOR_OF_FOUR float4
#define VECTOR_OF(a, b, c, d) (float4)(a, b, c, d)
#define ACTIVATED(x) activate(ACTIVATION, s.first, s.second, (vec)(x)).s0
#define NOT_A_NUMBER NAN
#define IS_FINITE(x) isfinite(x)
#define IS_NUMBER(x) (!isnan(x))
#define LARGER(x, y) ((x) > (y) || isnan(x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || isnan(x) ? (x) : (y))
#define MAGNITUDE(x) fabs(x)
#define EXPONENTIAL(x) exp(x)
#define LOGARITHM(x) log(x)
#define COMPENSATED_SUM(sum, v, lost) compensated_sum(sum, v, &lost)

// A sum whose rounding error is carried in `lost` while the sum is finite.
static inline float compensated_sum(float sum, float v, float *lost) {
  const float corrected = v - *lost, total = sum + corrected;
  *lost = isfinite(total) ? (total - sum) - corrected : 0.0f;
  return total;
}

// An index into an axis: counted from the end if negative, then clamped.
static inline int clamped_position(long index, int extent) {
  return (int)clamp(index < 0 ? index + extent : index, 0L, (long)extent - 1);
}
