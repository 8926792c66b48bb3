// y = softmax(scale * q k^T + mask) v for each head of each batch. A work item computes LANES queries, one in each
// lane, and takes KEYS keys at a time. When a larger score comes, earlier terms are rescaled, so that scores are never
// in memory (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018). WIDTH elements of queries and
// keys, and VALUES elements of values, are defined by the host.

#define KEYS 8
#define EACH_KEY(j) _Pragma("unroll") for (int j = 0; j < KEYS; j++)

// Strides from batch to batch, head to head, row to row and element to element; the mask's last stride is to the next
// key.
typedef struct {
  int sharing, queries, keys;   // `sharing` heads of queries read one head of keys
  int query[5], key[5], value[5];   // each begins at its first number
  int result[3], mask[4];
  int hasMask;
  float scale;
} attention_shape;

KERNEL void attention(BUFFER(query), BUFFER(key), BUFFER(value), BUFFER(mask), BUFFER(y), attention_shape s) {
  OPEN(const STORED, query);
  OPEN(const STORED, key);
  OPEN(const STORED, value);
  OPEN(const STORED, mask);
  OPEN(STORED, y);
  const int first = get_global_id(0) * LANES, head = get_global_id(1), batch = get_global_id(2);
  if (first >= s.queries) return;
  query += s.query[0] + (size_t)batch * s.query[1] + (size_t)head * s.query[2];
  key += s.key[0] + (size_t)batch * s.key[1] + (size_t)(head / s.sharing) * s.key[2];
  value += s.value[0] + (size_t)batch * s.value[1] + (size_t)(head / s.sharing) * s.value[2];
  mask += (size_t)batch * s.mask[0] + (size_t)head * s.mask[1];

  float lanes[LANES];
  vec q[WIDTH], sum[VALUES];
  for (int d = 0; d < WIDTH; d++) {
    for (int i = 0; i < LANES; i++)
      lanes[i] = AT(query, (size_t)min(first + i, s.queries - 1) * s.query[3] + (size_t)d * s.query[4]);
    q[d] = VECTOR(lanes);
  }
  for (int d = 0; d < VALUES; d++) sum[d] = 0.0f;
  vec largest = -INFINITY, total = 0.0f;

  for (int start = 0; start < s.keys; start += KEYS) {
    const global STORED *k[KEYS], *v[KEYS];
    vec score[KEYS];
    EACH_KEY(j) {
      const int own = min(start + j, s.keys - 1);
      k[j] = key + (size_t)own * s.key[3];
      v[j] = value + (size_t)own * s.value[3];
      score[j] = 0.0f;
    }
    for (int d = 0; d < WIDTH; d++) {
      const size_t place = (size_t)d * s.key[4];
      EACH_KEY(j) score[j] = MULTIPLY_ADD(q[d], (vec)AT(k[j], place), score[j]);
    }
    vec next = largest;
    EACH_KEY(j) {
      score[j] *= s.scale;
      if (s.hasMask) {
        const int own = min(start + j, s.keys - 1);
        for (int i = 0; i < LANES; i++)
          lanes[i] = AT(mask, (size_t)min(first + i, s.queries - 1) * s.mask[2] + (size_t)own * s.mask[3]);
        score[j] += VECTOR(lanes);
      }
      if (start + j >= s.keys) score[j] = -INFINITY;
      next = larger(next, score[j]);
    }
    // While all scores are -infinity, no term counts. If all are in the end, the result is 0 / 0 = NaN, as defined.
    const vec base = next == -INFINITY ? 0.0f : next;
    const vec rest = exp(largest - base);
    largest = next;
    total *= rest;
    EACH_KEY(j) {
      score[j] = exp(score[j] - base);
      total += score[j];
    }
    // Values beyond the last key are not read, because they may be infinite.
    const int count = min(s.keys - start, KEYS);
    if (count == KEYS) {
      for (int d = 0; d < VALUES; d++) {
        const size_t place = (size_t)d * s.value[4];
        vec part = sum[d] * rest;
        EACH_KEY(j) part = MULTIPLY_ADD(score[j], (vec)AT(v[j], place), part);
        sum[d] = part;
      }
    } else {
      for (int d = 0; d < VALUES; d++) {
        const size_t place = (size_t)d * s.value[4];
        vec part = sum[d] * rest;
        EACH_KEY(j) if (j < count) part = MULTIPLY_ADD(score[j], (vec)AT(v[j], place), part);
        sum[d] = part;
      }
    }
  }

  y += (size_t)batch * s.result[0] + (size_t)head * s.result[1];
  for (int d = 0; d < VALUES; d++) {
    JOIN(vstore, LANES)(sum[d] / total, 0, lanes);
    for (int i = 0; i < LANES && first + i < s.queries; i++)
      PUT(lanes[i], y, (size_t)(first + i) * s.result[2] + d);
  }
}
