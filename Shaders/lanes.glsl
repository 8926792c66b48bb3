// Reading what all invocations of a subgroup need alike. On a software driver, where a subgroup is one SIMD register,
// one vector load fetches a vector for every lane, and a permutation hands each to all lanes; elsewhere the address is
// uniform and the hardware reads it once.
//
// Results are vectors too, RESULTS(name), which STORE_RESULT writes. Software drivers store component by component and
// lane by lane, so results are stored two words at a time.
//
// LANES vectors at a time: `SHARED_VECTORS(name, count)` declares room for `count`, `LOAD_SHARED` fills it from `operand`
// at `base`, and `SHARED_VECTOR` is the vector at `index`.
// LOAD_SHARED reads whole registers, also past the end of the operand, so the driver must check bounds
// (`VulkanTraits.readsPastOperands`).

// With BOUNDED the activation is a clip, which no activation and a rectifier are as well (`Epilogue.bounded`): the module
// with all other activations is ten times as large.

#ifdef BOUNDED
#define ACTIVATED(x) bounded(x, first, second)
vec4 bounded(vec4 x, float low, float high) {
  x = mix(x, vec4(low), lessThan(x, vec4(low)));
  return mix(x, vec4(high), greaterThan(x, vec4(high)));
}
#else
#define ACTIVATED(x) apply(ACTIVATION, x, first, second)
#endif

// The other activations are long, and unrolled for each result they are most of the code. With LOOPED the results and their
// offsets are kept in PENDING(count), and one loop finishes them. Hardware cannot index its registers.
#if defined(SHUFFLE) && !defined(BOUNDED)
#define LOOPED
#define PENDING(count) \
  vec4 pending[count]; \
  int pendingAt[count]; \
  [[unroll]] for (int k = 0; k < count; k++) pendingAt[k] = -1;
#endif

#ifdef SHUFFLE
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(constant_id = 1) const int LANES = 8;
#define RESULTS(name) layout(binding = 0) writeonly buffer Output { u64vec2 name[]; };
#define STORE_RESULT(name, index, value) name[index] = pairs(floatBitsToUint(value))
u64vec2 pairs(uvec4 words) { return u64vec2(packUint2x32(words.xy), packUint2x32(words.zw)); }
#define SHARED_VECTORS(name, count) vec4 name[((count) + LANES - 1) / LANES]
#define LOAD_SHARED(name, count, operand, base) \
  [[unroll]] for (int chunk = 0; chunk < ((count) + LANES - 1) / LANES; chunk++) \
    name[chunk] = operand((base) + chunk * LANES + int(gl_SubgroupInvocationID))
#define SHARED_VECTOR(name, operand, base, index) subgroupShuffle(name[(index) / LANES], uint((index) % LANES))
#else
#define RESULTS(name) layout(binding = 0) writeonly buffer Output { STORED_VECTOR name[]; };
#define STORE_RESULT(name, index, value) name[index] = STORED_VECTOR(value)
#define SHARED_VECTORS(name, count)
#define LOAD_SHARED(name, count, operand, base)
#define SHARED_VECTOR(name, operand, base, index) operand((base) + (index))
#endif
