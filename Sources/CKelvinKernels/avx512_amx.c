/* Products of tiles, for processors with AMX. They have every instruction of avx512_bf16.c. */
#if defined(__x86_64__)
#pragma clang attribute push(                                                                                          \
  __attribute__((target(                                                                                               \
    "amx-tile,amx-bf16,amx-int8,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx512vnni,avx2,fma,f16c"))),            \
  apply_to = function)
#define CK_LANES 16
#define CK_NAME(kernel) kernel##__amx
#include "tile_products.h"
#pragma clang attribute pop
#endif
