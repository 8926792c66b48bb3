// Conversions of the element type from ELEMENT to RESULT by CONVERT.
//
// SATURATES: from a floating-point number to an integer. The saturated conversion of NaN is implementation-defined
// (NVIDIA's gives 2^63 for ulong); here it is 0. ROUNDS: to a float that a float16 holds.

#ifdef ROUNDS
static inline float rounded_to_half(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (half *)&bits);
  return vload_half(0, (const half *)&bits);
}
#endif

#ifdef SATURATES
#define CONVERTED(value) (isnan(value) ? (RESULT)0 : CONVERT(value))
#else
#define CONVERTED(value) CONVERT(value)
#endif

typedef struct {
  ROW_PARAMETERS
} cast_shape;

KERNEL void cast(BUFFER(x), BUFFER(y), cast_shape s) {
  OPEN(const ELEMENT, x);
  OPEN(RESULT, y);
  EACH_ROW {
    EACH_COLUMN y[column] = CONVERTED(x[column]);
  }
}
