// Reading what all invocations of a subgroup need alike. On a software driver, where a subgroup is one SIMD register,
// one vector load fetches a vector for every lane, and a permutation hands each to all lanes; elsewhere the address is
// uniform and the hardware reads it once.
//
// LANES vectors at a time: `SHARED_VECTORS(name, count)` declares room for `count`, `LOAD_SHARED` fills it from `operand`
// at `base`, and `SHARED_VECTOR` is the vector at `index`.

#ifdef SHUFFLE
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(constant_id = 1) const int LANES = 8;
#define SHARED_VECTORS(name, count) vec4 name[((count) + LANES - 1) / LANES]
#define LOAD_SHARED(name, count, operand, base) \
  [[unroll]] for (int chunk = 0; chunk < ((count) + LANES - 1) / LANES; chunk++) \
    name[chunk] = operand((base) + chunk * LANES + int(gl_SubgroupInvocationID))
#define SHARED_VECTOR(name, operand, base, index) subgroupShuffle(name[(index) / LANES], uint((index) % LANES))
#else
#define SHARED_VECTORS(name, count)
#define LOAD_SHARED(name, count, operand, base)
#define SHARED_VECTOR(name, operand, base, index) operand((base) + (index))
#endif
