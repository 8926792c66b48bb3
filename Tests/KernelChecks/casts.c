/* Conversions between types of elements. */
#include "check.h"

static const struct {
  size_t size;
  bool is_real, is_signed;
} types[] = {
  [ck_float32] = {4, true, true}, [ck_float64] = {8, true, true}, [ck_int8] = {1, false, true},
  [ck_int16] = {2, false, true},  [ck_int32] = {4, false, true},  [ck_int64] = {8, false, true},
  [ck_uint8] = {1, false, false}, [ck_uint16] = {2, false, false}, [ck_uint32] = {4, false, false},
  [ck_uint64] = {8, false, false}, [ck_bool] = {1, false, false},
};

/* Numbers at the bounds of types, and between them. */
static double special(void) {
  static const double bounds[] = {0, 0x1p7, 0x1p8, 0x1p15, 0x1p16, 0x1p31, 0x1p32, 0x1p63, 0x1p64};
  static const double others[] = {INFINITY, NAN, 1e-320, 0x1p-149, 0x1p-126, 0x1.fffffep127, 0x1.ffffffp127, 1e300};
  size_t bound = between(0, 2 * sizeof bounds / sizeof *bounds);
  double x = bound < sizeof bounds / sizeof *bounds ? bounds[bound] : others[draw() % (sizeof others / sizeof *others)];
  static const double steps[] = {0, 0.25, 0.5, 1, 1.5};
  double step = steps[draw() % (sizeof steps / sizeof *steps)];
  if (one_in(3)) x = nextafter(x, one_in(2) ? 0 : INFINITY);
  else if (one_in(4)) x = (double)nextafterf((float)x, one_in(2) ? 0 : INFINITY);
  else x += one_in(2) ? step : -step;
  return one_in(2) ? x : -x;
}

static void put(ck_scalar type, void *target, size_t i) {
  uint64_t bits = draw() >> draw() % 64;
  if (one_in(2)) bits = ~bits + draw() % 2;
  double real = one_in(2) ? special() : ldexp((double)(int64_t)draw(), (int)between(0, 80) - 75);
  float narrow = (float)real;
  if (type == ck_bool) bits &= 1;
  if (type == ck_float32) memcpy(&bits, &narrow, sizeof narrow);
  if (type == ck_float64) memcpy(&bits, &real, sizeof real);
  memcpy((char *)target + i * types[type].size, &bits, types[type].size);
}

/* The bits of an element; those of an integer are extended to 64. */
static uint64_t bits_at(ck_scalar type, const void *x, size_t i) {
  size_t size = types[type].size;
  uint64_t bits = 0;
  memcpy(&bits, (const char *)x + i * size, size);
  if (!types[type].is_real && types[type].is_signed && bits >> (8 * size - 1)) bits |= ~0ull << (8 * size - 1);
  return bits;
}

static double real_of(ck_scalar type, uint64_t bits) {
  float narrow;
  double real;
  memcpy(&narrow, &bits, sizeof narrow);
  memcpy(&real, &bits, sizeof real);
  return type == ck_float32 ? (double)narrow : real;
}

/* An integer keeps its low bits. A real number loses its fraction; beyond the type it becomes the nearest integer. */
static uint64_t integer_of(ck_scalar from, uint64_t bits, ck_scalar to) {
  size_t digits = 8 * types[to].size - types[to].is_signed;
  uint64_t most = ~0ull >> (64 - digits), least = types[to].is_signed ? ~most : 0;
  if (types[from].is_real) {
    double x = trunc(real_of(from, bits));
    if (isnan(x)) return 0;
    if (x >= ldexp(1, (int)digits)) return most;
    if (x < 0) return types[to].is_signed && x > -ldexp(1, (int)digits) ? (uint64_t)(int64_t)x : least;
    return (uint64_t)x;
  }
  bits &= most | (types[to].is_signed ? most + 1 : 0);
  return types[to].is_signed && bits > most ? bits | least : bits;
}

static void expect_cast(size_t i, ck_scalar from, uint64_t x, ck_scalar to, uint64_t y) {
  bool is_signed = types[from].is_signed;
  if (to == ck_bool) {
    expect_integer(i, types[from].is_real ? real_of(from, x) != 0 : x != 0, (int64_t)y);
  } else if (!types[to].is_real) {
    expect_integer(i, (int64_t)integer_of(from, x, to), (int64_t)y);
  } else {
    double real = types[from].is_real ? real_of(from, x) : is_signed ? (double)(int64_t)x : (double)x;
    float narrow = types[from].is_real ? (float)real : is_signed ? (float)(int64_t)x : (float)x;
    uint64_t expected = 0;
    if (to == ck_float32) memcpy(&expected, &narrow, sizeof narrow);
    else memcpy(&expected, &real, sizeof real);
    if (isnan(real)) expect_integer(i, true, isnan(real_of(to, y)));
    else expect_integer(i, (int64_t)expected, (int64_t)y);
  }
}

void check_cast(const ck_kernels *k) {
  size_t count = PICK(1, 2, 3, 5, 8, 15, 17, 31, 33, 64, 100, ck_strip - 1, 2 * ck_strip + 7);
  for (ck_scalar from = ck_float32; from <= ck_bool; from++) {
    void *x = memory(count * types[from].size);
    for (size_t i = 0; i < count; i++) put(from, x, i);
    for (ck_scalar to = ck_float32; to <= ck_bool; to++) {
      if (from == to) continue;
      void *y = memory(count * types[to].size);
      describe("%zu elements of type %d to %d", count, (int)from, (int)to);
      ck_cast_args c = {.x = x, .y = y, .from = from, .to = to, .count = count};
      for (size_t item = 0; item < parts(count, ck_strip); item++) k->cast(&c, item, item + 1, NULL);
      for (size_t i = 0; i < count; i++) expect_cast(i, from, bits_at(from, x, i), to, bits_at(to, y, i));
    }
  }
}
