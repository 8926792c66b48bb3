#if defined(__x86_64__)
#pragma clang attribute push(                                                                      \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), apply_to = function)
#define CK_VARIANT "avx512"
#define CK_LANES 16
#define CK_INTEGER_GROUP 2
#define CK_NAME(kernel) kernel##__avx512
#include "kernels.h"

extern const ck_integer_kernels ck_integer_kernels__avx512_vnni;
CK_KERNELS(ck_kernels__avx512_vnni, "avx512_vnni", ck_integer_kernels__avx512_vnni);
#pragma clang attribute pop
#endif
