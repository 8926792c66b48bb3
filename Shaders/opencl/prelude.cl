// Macros and functions that every kernel shares. LANES, GROUP and TILE are defined by the host:
// Sources/KelvinOpenCL/Tuning.swift.
//
// Two layouts: dense (row-major), and blocked: [N, C / LANES rounded up, pixels, LANES], the lanes beyond C undefined
// but stored. Kernels never let one lane of a blocked tensor affect another.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(float, LANES) vec;
typedef JOIN(int, LANES) ivec;

// A kernel that declares floats in memory as STORED has a variant for float16, which HALF selects. Other kernels work
// on copies in float32. All arithmetic is float32. AT reads an element and PUT writes one, LOAD and STORE a vector.
// VECTOR reads a vector of parameters, private or local memory, as declared. PACKED is an element of weights, read by
// PACKED_AT, and is float16 beside float32 values if HALF_PACKED is defined.
#ifdef HALF
#define STORED half
#define AT(p, i) vload_half(i, p)
#define PUT(v, p, i) vstore_half_rte(v, i, p)
#define LOAD(p) JOIN(vload_half, LANES)(0, p)
#define STORE(v, p) JOIN(JOIN(vstore_half, LANES), _rte)(v, 0, p)
#else
#define STORED float
#define AT(p, i) ((p)[i])
#define PUT(v, p, i) ((p)[i] = (v))
#define LOAD(p) VECTOR(p)
#define STORE(v, p) JOIN(vstore, LANES)(v, 0, p)
#endif
#define VECTOR(p) JOIN(vload, LANES)(0, p)
#if defined(HALF) || defined(HALF_PACKED)
#define PACKED half
#define PACKED_AT(p) JOIN(vload_half, LANES)(0, p)
#else
#define PACKED float
#define PACKED_AT(p) VECTOR(p)
#endif

#define KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))

// A buffer argument: the memory, and the start of the tensor in it, in pages of 256 bytes.
#define BUFFER(name) global uchar *name##_memory, uint name##_page
#define OPEN(type, name) global type *name = (global type *)(name##_memory + (size_t)name##_page * 256)

// The first `count` elements; the other lanes are `filler`.
static inline vec load_part(const global STORED *p, int count, float filler) {
  if (count >= LANES) return LOAD(p);
  float lanes[LANES];
  for (int i = 0; i < LANES; i++) lanes[i] = i < count ? AT(p, i) : filler;
  return VECTOR(lanes);
}

static inline void store_part(vec v, global STORED *p, int count) {
  if (count >= LANES) {
    STORE(v, p);
    return;
  }
  float lanes[LANES];
  JOIN(vstore, LANES)(v, 0, lanes);
  for (int i = 0; i < count; i++) PUT(lanes[i], p, i);
}

// Clamps x to at least `a`, or to at most `b`; NaN is kept, which fmax, fmin and clamp would lose.
static inline vec at_least(vec x, float a) { return x < a ? (vec)a : x; }
static inline vec at_most(vec x, float b) { return x > b ? (vec)b : x; }

// The larger or smaller of two elements; NaN if either is NaN.
static inline vec larger(vec x, vec y) { return x > y || isnan(x) ? x : y; }
static inline vec smaller(vec x, vec y) { return x < y || isnan(x) ? x : y; }

// Trigonometric functions lane by lane: PoCL's vector functions are wrong for small angles beside a large or infinite
// one.
#define BY_LANE(function) \
  static inline vec by_lane_##function(vec x) { \
    float lanes[LANES]; \
    JOIN(vstore, LANES)(x, 0, lanes); \
    for (int i = 0; i < LANES; i++) lanes[i] = function(lanes[i]); \
    return VECTOR(lanes); \
  }
BY_LANE(sin)
BY_LANE(cos)
BY_LANE(tan)

// Loops over a tile, unrolled so that the tile stays in registers.
#define EACH(i) _Pragma("unroll") for (int i = 0; i < PIXELS; i++)
#define EACH_BLOCK(j) _Pragma("unroll") for (int j = 0; j < BLOCKS; j++)

// A kernel over rows of elements: one item computes `run` columns of `rows` neighbouring rows. The kernel's parameters
// `s` begin with ROW_PARAMETERS. EACH_ROW sets `row`, EACH_COLUMN sets `column`, which ends at `end`.
#define ROW_PARAMETERS int rowCount; int rowLength; int rows; int run;
#define EACH_ROW \
  const int item_ = get_global_id(0), pieces_ = (s.rowLength + s.run - 1) / s.run; \
  const int start_ = item_ % pieces_ * s.run, end = min(start_ + s.run, s.rowLength); \
  for (int row = item_ / pieces_ * s.rows, last_ = min(row + s.rows, s.rowCount); row < last_; row++)
#define EACH_COLUMN_BY(step) for (int column = start_; column < end; column += step)
#define EACH_COLUMN EACH_COLUMN_BY(1)
#define ELEMENT_INDEX (row * s.rowLength + column)

// Sets `place` along each axis before the last, innermost first, of a row in a tensor of s.sizes.
#define EACH_AXIS(limit, body) \
  for (int axis = 0, rest = row; axis < limit && rest > 0; axis++) { \
    const int next = rest / s.sizes[axis], place = rest - next * s.sizes[axis]; \
    body \
    rest = next; \
  }
