// Numbers in [0, 1) from a key, one block of Philox 4x32-10 for each work item.

typedef struct {
  int count, stream;
} random_uniform_shape;

static uint4 philox(uint4 c, uint2 k) {
  for (int i = 0; i < 10; i++) {
    c = (uint4)(
        mul_hi(c.z, 0xCD9E8D57u) ^ c.y ^ k.x, c.z * 0xCD9E8D57u, mul_hi(c.x, 0xD2511F53u) ^ c.w ^ k.y,
        c.x * 0xD2511F53u);
    k += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

KERNEL void random_uniform(BUFFER(key), BUFFER(y), random_uniform_shape s) {
  OPEN(const uint, key);
  OPEN(float, y);
  const int block = get_global_id(0);
  const uint4 words = philox((uint4)(block, s.stream, key[2], key[3]), (uint2)(key[0], key[1]));
  const uint lanes[4] = {words.x, words.y, words.z, words.w};
  for (int i = 0; i < 4; i++)
    if (4 * block + i < s.count) y[4 * block + i] = (lanes[i] >> 8) * 0x1p-24f;
}
