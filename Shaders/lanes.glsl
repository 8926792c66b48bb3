// Reading what all invocations of a subgroup need alike. On a software driver, where a subgroup is one SIMD register,
// one vector load fetches a texel for every lane, and a permutation hands each to all lanes; elsewhere the address is
// uniform and the hardware reads it once.
//
// LANES texels at a time: `TEXELS(name, count)` declares room for `count`, `LOAD` fills it from `buffer` at `base`, and
// `TEXEL` is the texel at `index`.

#ifdef SHUFFLE
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(constant_id = 1) const int LANES = 8;
#define TEXELS(name, count) vec4 name[((count) + LANES - 1) / LANES]
#define LOAD(name, count, buffer, base) \
  [[unroll]] for (int chunk = 0; chunk < ((count) + LANES - 1) / LANES; chunk++) \
    name[chunk] = texelFetch(buffer, (base) + chunk * LANES + int(gl_SubgroupInvocationID))
#define TEXEL(name, buffer, base, index) subgroupShuffle(name[(index) / LANES], uint((index) % LANES))
#else
#define TEXELS(name, count)
#define LOAD(name, count, buffer, base)
#define TEXEL(name, buffer, base, index) texelFetch(buffer, (base) + (index))
#endif
