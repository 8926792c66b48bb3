/* Access to elements whose type is known at run time. */
#pragma once
#include "ck_kernels.h"

/* Calls X with the name of a type and its number, for each integer type whose values fit int64_t. */
#define CK_INTEGER_TYPES(X)                                                                                 \
  X(int8_t, ck_int8) X(int16_t, ck_int16) X(int32_t, ck_int32) X(int64_t, ck_int64) X(uint8_t, ck_uint8)    \
  X(uint16_t, ck_uint16) X(uint32_t, ck_uint32)

static inline size_t typed_size(ck_scalar type) {
  switch (type) {
  case ck_int8:
  case ck_uint8:
  case ck_bool: return 1;
  case ck_float16:
  case ck_int16:
  case ck_uint16: return 2;
  case ck_float32:
  case ck_int32:
  case ck_uint32: return 4;
  default: return 8;
  }
}

/* Loads an integer; values beyond int64_t become its maximum. */
static inline int64_t typed_integer(ck_scalar type, const void *x, size_t i) {
  switch (type) {
#define CK_LOAD(name, number) \
  case number: return (int64_t)((const name *)x)[i];
    CK_INTEGER_TYPES(CK_LOAD)
#undef CK_LOAD
  case ck_uint64: return ((const uint64_t *)x)[i] > INT64_MAX ? INT64_MAX : (int64_t)((const uint64_t *)x)[i];
  default: return ((const uint8_t *)x)[i];
  }
}
