// Integers of 8 to 64 bits, computed as low and high word of 64 bits: no driver needs 64-bit arithmetic of its own.
// The KIND of a value says how it lies in a texel of 32-bit words.

#include "special.glsl"

const int SIGNED = 0, UNSIGNED = 1, SIGNED_PAIR = 2, UNSIGNED_PAIR = 3, FLOAT = 4;

bool isPair(int kind) { return kind == SIGNED_PAIR || kind == UNSIGNED_PAIR; }
bool isSigned(int kind) { return kind == SIGNED || kind == SIGNED_PAIR; }

uvec2 wide(uvec4 texel, int kind) {
  if (isPair(kind)) return texel.xy;
  return uvec2(texel.x, kind == SIGNED ? uint(int(texel.x) >> 31) : 0u);
}

bool isLess(uvec2 x, uvec2 y, int kind) {
  if (x.y == y.y) return x.x < y.x;
  return isSigned(kind) ? int(x.y) < int(y.y) : x.y < y.y;
}

uvec2 sum(uvec2 x, uvec2 y) {
  uint carry;
  uint low = uaddCarry(x.x, y.x, carry);
  return uvec2(low, x.y + y.y + carry);
}

uvec2 negated(uvec2 x) { return sum(~x, uvec2(1u, 0u)); }

uvec2 product(uvec2 x, uvec2 y) {
  uint high, low;
  umulExtended(x.x, y.x, high, low);
  return uvec2(low, high + x.x * y.y + x.y * y.x);
}

// Of unsigned numbers, y not 0.
uvec2 quotientOf(uvec2 x, uvec2 y) {
  if (x.y == 0u && y.y == 0u) return uvec2(x.x / y.x, 0u);
  uvec2 result = uvec2(0u), rest = uvec2(0u);
  for (int bit = 63; bit >= 0; bit--) {
    uint next = bit >= 32 ? x.y >> uint(bit - 32) : x.x >> uint(bit);
    bool overflows = rest.y >> 31 != 0u;
    rest = uvec2(rest.x << 1 | (next & 1u), rest.y << 1 | rest.x >> 31);
    if (overflows || !isLess(rest, y, UNSIGNED)) {
      rest = sum(rest, negated(y));
      if (bit >= 32) result.y |= 1u << uint(bit - 32);
      else result.x |= 1u << uint(bit);
    }
  }
  return result;
}

uvec2 magnitude(uvec2 x, int kind) { return isSigned(kind) && int(x.y) < 0 ? negated(x) : x; }

// Truncated; 0 where y is 0.
uvec2 divided(uvec2 x, uvec2 y, int kind) {
  if (y == uvec2(0u)) return uvec2(0u);
  uvec2 result = quotientOf(magnitude(x, kind), magnitude(y, kind));
  return isSigned(kind) && int(x.y ^ y.y) < 0 ? negated(result) : result;
}

// By squaring. Negative exponents leave 1, -1, or 0.
uvec2 raised(uvec2 x, uvec2 y, int kind) {
  const uvec2 one = uvec2(1u, 0u), minusOne = uvec2(0xFFFFFFFFu);
  if (isSigned(kind) && int(y.y) < 0) {
    return x == one || (x == minusOne && (y.x & 1u) == 0u) ? one : (x == minusOne ? minusOne : uvec2(0u));
  }
  uvec2 result = one;
  while (y != uvec2(0u)) {
    if ((y.x & 1u) != 0u) result = product(result, x);
    x = product(x, x);
    y = uvec2(y.x >> 1 | y.y << 31, y.y >> 1);
  }
  return result;
}

// A negative y is one beyond all bits.
uvec2 shiftedLeft(uvec2 x, uvec2 y) {
  if (y.y != 0u || y.x > 63u) return uvec2(0u);
  if (y.x >= 32u) return uvec2(0u, x.x << (y.x - 32u));
  return y.x == 0u ? x : uvec2(x.x << y.x, x.y << y.x | x.x >> (32u - y.x));
}

uvec2 shiftedRight(uvec2 x, uvec2 y, int kind) {
  uint sign = isSigned(kind) ? uint(int(x.y) >> 31) : 0u;
  if (y.y != 0u || y.x > 63u) return uvec2(sign);
  uint high = isSigned(kind) ? uint(int(x.y) >> int(y.x & 31u)) : x.y >> (y.x & 31u);
  if (y.x >= 32u) return uvec2(high, sign);
  return y.x == 0u ? x : uvec2(x.x >> y.x | x.y << (32u - y.x), high);
}

// The low bits of a number, as an element of that many bits and a kind's signedness holds them.
uvec2 wrapped(uvec2 x, int kind, int bits) {
  if (bits >= 64) return x;
  if (!isSigned(kind)) return uvec2(bitfieldExtract(x.x, 0, bits), 0u);
  int low = bitfieldExtract(int(x.x), 0, bits);
  return uvec2(uint(low), uint(low >> 31));
}

// The nearest number that an element of that many bits and a kind's signedness holds.
uvec2 fitted(uvec2 x, int kind, int bits) {
  if (bits >= 64) return x;
  if (isSigned(kind)) {
    int top = int((1u << uint(bits - 1)) - 1u);
    uvec2 most = uvec2(uint(top), 0u), least = uvec2(uint(-top - 1), 0xFFFFFFFFu);
    return isLess(most, x, SIGNED) ? most : (isLess(x, least, SIGNED) ? least : x);
  }
  uint most = bits == 32 ? 0xFFFFFFFFu : (1u << uint(bits)) - 1u;
  return int(x.y) < 0 ? uvec2(0u) : uvec2(x.y != 0u ? most : min(x.x, most), 0u);
}

// To the nearest float, but for the rounding of the low word.
float floatOf(uvec2 x, int kind) {
  uvec2 size = magnitude(x, kind);
  float y = float(size.y) * 4294967296.0 + float(size.x);
  return isSigned(kind) && int(x.y) < 0 ? -y : y;
}

// Truncated and saturated to 64 bits; 0 for not-a-number.
uvec2 integerOf(float x, int kind) {
  float size = abs(trunc(x));
  bool negative = x < 0.0;
  if (isUnordered(x) || (negative && !isSigned(kind))) return uvec2(0u);
  if (size >= (isSigned(kind) ? 9223372036854775808.0 : 18446744073709551616.0)) {
    if (!isSigned(kind)) return uvec2(0xFFFFFFFFu);
    return negative ? uvec2(0u, 0x80000000u) : uvec2(0xFFFFFFFFu, 0x7FFFFFFFu);
  }
  float high = floor(size / 4294967296.0);
  uvec2 y = uvec2(uint(size - high * 4294967296.0), uint(high));
  return negative ? negated(y) : y;
}

// An index into an axis: counted from the end where negative, then clamped.
int positionAt(uvec4 texel, int kind, int extent) {
  int position = int(texel.x);
  if (isPair(kind) || kind == UNSIGNED) {
    uvec2 x = wide(texel, kind);
    bool fits = x.y == uint(int(x.x) >> 31);
    position = fits ? int(x.x) : (isSigned(kind) && int(x.y) < 0 ? -0x7FFFFFFF : 0x7FFFFFFF);
  }
  return position < 0 ? position + extent : position;
}

int clampedPositionAt(uvec4 texel, int kind, int extent) { return clamp(positionAt(texel, kind, extent), 0, extent - 1); }
