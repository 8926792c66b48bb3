#if defined(__x86_64__)
#pragma clang attribute push(                                                                      \
  __attribute__((target("avx2,fma,f16c"))), apply_to = function)
#define CK_VARIANT "avx2"
#define CK_LANES 8
#define CK_INTEGER_GROUP 2
#define CK_NAME(kernel) kernel##__avx2
#include "kernels.h"
#pragma clang attribute pop
#endif
