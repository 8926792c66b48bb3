/* Integer kernels for processors that multiply 8-bit elements. The other kernels are those of avx512.c. */
#if defined(__x86_64__)
#pragma clang attribute push(                                                                      \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), apply_to = function)
#define CK_LANES 16
#define CK_INTEGER_GROUP 4
#define CK_NAME(kernel) kernel##__avx512_vnni
#include "integer.h"
#pragma clang attribute pop
#endif
