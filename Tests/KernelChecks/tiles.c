/* The emulated unit for tiles, against its rule in integers. */
#include "check.h"

/* significand * 2^exponent. */
typedef struct {
  __int128 significand;
  int exponent;
  bool is_negative;
} exact;

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Denormals are zeros. */
static exact exact_of(float x) {
  uint32_t bits = bits_of(x), exponent = bits >> 23 & 0xFF;
  return (exact){exponent ? (bits & 0x7FFFFF) | 0x800000 : 0, (int)exponent - 150, bits >> 31};
}

/* Rounds to 24 digits, ties to even. Numbers below the least normal one are zeros. */
static float rounded(exact x) {
  uint32_t sign = (uint32_t)x.is_negative << 31;
  if (!x.significand) return float_of(sign);
  while (x.significand >= (__int128)1 << 24 || x.significand < (__int128)1 << 23) {
    if (x.significand < (__int128)1 << 23) {
      x.significand <<= 1;
      x.exponent--;
      continue;
    }
    int shift = 0;
    while (x.significand >> shift >= (__int128)1 << 24) shift++;
    __int128 rest = x.significand & (((__int128)1 << shift) - 1), half = (__int128)1 << (shift - 1);
    x.significand >>= shift;
    x.exponent += shift;
    if (rest > half || (rest == half && x.significand & 1)) x.significand++;
  }
  int exponent = x.exponent + 150;
  if (exponent <= 0) return float_of(sign);
  if (exponent >= 255) return float_of(sign | 0x7F800000);
  return float_of(sign | (uint32_t)exponent << 23 | ((uint32_t)x.significand & 0x7FFFFF));
}

static float plain_muladd(float a, float b, float sum) {
  if (!isfinite(a) || !isfinite(b) || !isfinite(sum)) {
    /* Denormals are zeros here too, and no product of finite numbers overflows. */
    double x = fabsf(a) < 0x1p-126f ? 0 : (double)a, y = fabsf(b) < 0x1p-126f ? 0 : (double)b;
    return (float)(x * y + (double)sum);
  }
  exact x = exact_of(a), y = exact_of(b), p = {x.significand * y.significand, x.exponent + y.exponent, 0};
  exact c = exact_of(sum);
  p.is_negative = x.is_negative != y.is_negative;
  if (!p.significand || !c.significand) {
    if (p.significand || c.significand) return rounded(p.significand ? p : c);
    return p.is_negative && c.is_negative ? -0.0f : 0.0f;
  }
  exact high = p.exponent > c.exponent ? p : c, low = p.exponent > c.exponent ? c : p;
  int gap = high.exponent - low.exponent;
  /* Of a number so far below the digits of the other, only the sign counts. */
  if (gap > 70) {
    low = (exact){1, high.exponent - 70, low.is_negative};
    gap = 70;
  }
  __int128 total = (high.is_negative ? -high.significand : high.significand) * ((__int128)1 << gap) +
    (low.is_negative ? -low.significand : low.significand);
  return rounded((exact){total < 0 ? -total : total, low.exponent, total < 0});
}

/* Bits of two bfloat16, whose exponents are any, or near `center`. */
static uint32_t random_word(bool is_wild, int center) {
  uint32_t word = (uint32_t)draw();
  if (is_wild) return word;
  uint32_t exponents[2];
  for (size_t i = 0; i < 2; i++) exponents[i] = (uint32_t)(center - 3 + (int)between(0, 6)) & 0xFF;
  return (word & 0x807F807F) | exponents[0] << 23 | exponents[1] << 7;
}

void check_tile_emulation(const ck_kernels *k) {
  (void)k;
  bool is_wild = one_in(4);
  /* Products around the least normal number, around its square root, around 1 and around the largest number. */
  int a_center = PICK(64, 3, 127, 190), b_center = a_center == 3 ? 124 : a_center;
  /* The least normal number, plus or minus about half of its last digit. */
  bool is_edge = one_in(4);
  describe("exponents %d and %d%s%s", a_center, b_center, is_wild ? ", wild" : "", is_edge ? ", at the edge" : "");
  uint32_t a[ck_tile_rows][ck_tile_words], b[ck_tile_words][ck_tile_words];
  float sums[ck_tile_rows][ck_tile_words], expected[ck_tile_rows][ck_tile_words];
  for (size_t i = 0; i < ck_tile_rows; i++)
    for (size_t j = 0; j < ck_tile_words; j++) {
      a[i][j] = random_word(is_wild, a_center);
      b[i][j] = random_word(is_wild, b_center);
      sums[i][j] = one_in(4) ? 0 : float_of(random_word(is_wild, a_center + b_center - 127));
    }
  if (is_edge)
    for (size_t i = 0; i < ck_tile_rows; i++)
      for (size_t j = 0; j < ck_tile_words; j++) {
        a[i][j] = j == 0 ? 0x20002000 : j == 1 ? random_word(false, 52) : 0;
        b[j][i] = j == 0 ? 0x20002000 : j == 1 ? random_word(false, 52) : 0;
      }
  for (size_t i = 0; i < ck_tile_rows; i++)
    for (size_t j = 0; j < ck_tile_words; j++) {
      float even = 0, odd = 0;
      for (size_t word = 0; word < ck_tile_words; word++) {
        even = plain_muladd(float_of(a[i][word] << 16), float_of(b[word][j] << 16), even);
        odd = plain_muladd(float_of(a[i][word] & 0xFFFF0000), float_of(b[word][j] & 0xFFFF0000), odd);
      }
      expected[i][j] = plain_muladd(1, plain_muladd(1, even, odd), sums[i][j]);
    }
  ck_emulate_tile_product(sums, a, b);
  for (size_t i = 0; i < ck_tile_rows; i++)
    for (size_t j = 0; j < ck_tile_words; j++)
      if (!isnan(sums[i][j]) || !isnan(expected[i][j]))
        expect_integer(i * ck_tile_words + j, bits_of(expected[i][j]), bits_of(sums[i][j]));
}

void check_integer_tile_emulation(const ck_kernels *k) {
  (void)k;
  uint32_t a[ck_tile_rows][ck_tile_words], b[ck_tile_words][ck_tile_words];
  uint32_t sums[ck_tile_rows][ck_tile_words], expected[ck_tile_rows][ck_tile_words];
  describe("words of four integers");
  for (size_t i = 0; i < ck_tile_rows; i++)
    for (size_t j = 0; j < ck_tile_words; j++) {
      a[i][j] = one_in(8) ? UINT32_MAX : (uint32_t)draw();
      b[i][j] = one_in(8) ? 0x80808080 : (uint32_t)draw();
      sums[i][j] = (uint32_t)draw();
    }
  for (size_t i = 0; i < ck_tile_rows; i++)
    for (size_t j = 0; j < ck_tile_words; j++) {
      int64_t sum = sums[i][j];
      for (size_t depth = 0; depth < 4 * ck_tile_words; depth++)
        sum += (int64_t)((const uint8_t *)a[i])[depth] * ((const int8_t *)&b[depth / 4][j])[depth % 4];
      expected[i][j] = (uint32_t)sum;
    }
  ck_emulate_integer_tile_product(sums, a, b);
  for (size_t i = 0; i < ck_tile_rows; i++)
    for (size_t j = 0; j < ck_tile_words; j++)
      expect_integer(i * ck_tile_words + j, expected[i][j], sums[i][j]);
}
