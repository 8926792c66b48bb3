/* Attention: for eight queries at a time, the scores, their softmax and the weighted sum of values. Keys and values
 * of a head are packed as columns of products once for a chunk of queries. Only the scores of eight queries are
 * stored. A few queries read keys and values where they are, since packing would cost more than the products. */
#pragma once
#include "ck_attention.h"
#include "gemm.h"
#include "softmax.h"

/* The most queries that are computed one by one. */
enum { attention_few = 2 };

CK_INLINE size_t attention_padded(size_t columns) { return (columns + gemm_width - 1) / gemm_width * gemm_width; }

static size_t CK_NAME(ck_attention_elements)(const ck_attention_args *a) {
  size_t keys = attention_padded(a->keys);
  return a->width * keys + a->keys * attention_padded(a->value_width) + ck_gemm_rows * (a->width + 2 * keys);
}

/* Packs `columns` of a matrix as panels, [panel][depth][gemm_width]. */
static void attention_pack(
  const float *x, size_t depth, size_t columns, size_t row_stride, size_t column_stride, float *y) {
  for (size_t j = 0; j < columns; j += gemm_width, y += depth * gemm_width)
    gemm_pack_matrix(
      x + j * column_stride, depth, row_stride, column_stride, gemm_min(gemm_width, columns - j), y, gemm_width);
}

CK_INLINE void attention_add_mask(float *x, const float *mask, size_t step, size_t count) {
  for (size_t i = 0; i < count; i += CK_LANES) {
    size_t n = gemm_min(CK_LANES, count - i);
    vstore_part(x + i, vload_part(x + i, n) + (step ? vload_part(mask + i, n) : vset(*mask)), n);
  }
}

/* The keys from the first on that a query sees. */
typedef struct attention_range {
  size_t begin, end;
} attention_range;

CK_INLINE attention_range attention_seen(const ck_attention_args *a, size_t batch, size_t query) {
  if (!a->lengths) return (attention_range){0, a->keys};
  int64_t length = a->are_wide ? ((const int64_t *)a->lengths)[batch] : ((const int32_t *)a->lengths)[batch];
  int64_t farthest = (int64_t)1 << 30, keys = (int64_t)a->keys, window = (int64_t)a->window;
  length = length < -farthest ? -farthest : length > farthest ? farthest : length;
  int64_t behind = length + a->last_key + (int64_t)query + 1;
  int64_t end = behind < 0 ? 0 : behind > keys ? keys : behind, begin = window && behind > window ? behind - window : 0;
  return (attention_range){(size_t)(begin < end ? begin : end), (size_t)end};
}

/* Adds the values of some keys, which are packed, to the sum of one query. */
static void attention_add(
  const ck_attention_args *a, const float *values, const float *terms, size_t begin, size_t end, float *y) {
  for (size_t k = begin; k < end; k++)
    for (size_t j = 0; j < a->value_width; j += CK_LANES) {
      size_t n = gemm_min(CK_LANES, a->value_width - j);
      const float *at = values + j / gemm_width * a->keys * gemm_width + k * gemm_width + j % gemm_width;
      vstore_part(y + j, vmuladd(vset(terms[k]), vload_part(at, n), vload_part(y + j, n)), n);
    }
}

/* One query. The elements of the query, of each key and of each value follow one another. */
static void attention_query(const ck_attention_args *a, size_t batch, size_t head, size_t index, float *scores) {
  attention_range seen = attention_seen(a, batch, index);
  size_t source = head / a->sharing, count = seen.end - seen.begin;
  const float *q = a->query + batch * a->query_strides[0] + head * a->query_strides[1] + index * a->query_strides[2];
  const float *key = a->key + batch * a->key_strides[0] + source * a->key_strides[1] + seen.begin * a->key_strides[2];
  const float *value =
    a->value + batch * a->value_strides[0] + source * a->value_strides[1] + seen.begin * a->value_strides[2];
  for (size_t j = 0; j < count; j++, key += a->key_strides[2]) {
    vf sum = vset(0);
    for (size_t d = 0; d < a->width; d += CK_LANES) {
      size_t n = gemm_min(CK_LANES, a->width - d);
      sum = vmuladd(vload_part(q + d, n), vload_part(key + d, n), sum);
    }
    scores[j] = vsum(sum) * a->scale;
  }
  if (a->mask)
    attention_add_mask(
      scores,
      a->mask + batch * a->mask_strides[0] + head * a->mask_strides[1] + index * a->mask_strides[2]
        + seen.begin * a->mask_strides[3],
      a->mask_strides[3], count);
  float total = count ? softmax_terms(scores, scores, count) : 1;
  float *y = a->y + batch * a->y_strides[0] + head * a->y_strides[1] + index * a->y_strides[2];
  for (size_t d = 0; d < a->value_width; d += 4 * CK_LANES) {
    size_t left = a->value_width - d;
    size_t n[4] = {0};
    vf sums[4];
    for (size_t v = 0; v < 4; v++) {
      if (left > v * CK_LANES) n[v] = gemm_min(CK_LANES, left - v * CK_LANES);
      sums[v] = vset(0);
    }
    const float *at = value + d;
    for (size_t j = 0; j < count; j++, at += a->value_strides[2])
      for (size_t v = 0; v < 4 && n[v]; v++)
        sums[v] = vmuladd(vset(scores[j]), vload_part(at + v * CK_LANES, n[v]), sums[v]);
    for (size_t v = 0; v < 4 && n[v]; v++) vstore_part(y + d + v * CK_LANES, sums[v] / vset(total), n[v]);
  }
}

/* - seen: the keys that each query sees, counted from all keys, of which the first is number `start`. */
static void attention_rows(
  const ck_attention_args *a, size_t batch, size_t head, size_t first, size_t rows, const attention_range *seen,
  size_t start, const float *keys, const float *values, float *query, float *scores, float *shares) {
  size_t padded = attention_padded(a->keys);
  const float *q = a->query + batch * a->query_strides[0] + head * a->query_strides[1] + first * a->query_strides[2];
  gemm_pack_rows(q, rows, a->width, a->query_strides[2], a->query_strides[3], gemm_no_factors, query);
  for (size_t i = 0; i < a->width * ck_gemm_rows; i++) query[i] *= a->scale;
  gemm_tile tile = {
    .depth = a->width,
    .a = query,
    .b_row = gemm_width,
    .b_vector = CK_LANES,
    .c_row = padded,
    .rows = rows,
    .lower = -INFINITY,
    .upper = INFINITY,
    .finishes = true,
  };
  for (size_t j = 0; j < a->keys; j += gemm_width) {
    tile.b = keys + j * a->width;
    tile.c = scores + j;
    tile.columns = gemm_min(gemm_width, a->keys - j);
    gemm_compute_tile(&tile);
  }
  float sums[ck_gemm_rows];
  for (size_t r = 0; r < rows; r++) {
    float *row = scores + r * padded;
    if (a->mask)
      attention_add_mask(
        row, a->mask + batch * a->mask_strides[0] + head * a->mask_strides[1] + (first + r) * a->mask_strides[2],
        a->mask_strides[3], a->keys);
    size_t begin = seen[r].begin - start, count = seen[r].end - seen[r].begin;
    sums[r] = count ? softmax_terms(row + begin, row + begin, count) : 1;
  }
  /* The keys that all rows see. The last row's range begins and ends last. */
  size_t begin = seen[rows - 1].begin - start, end = seen[0].end - start;
  if (begin > end) begin = end;
  gemm_pack_rows(scores + begin, rows, end - begin, padded, 1, gemm_no_factors, shares);
  float *y = a->y + batch * a->y_strides[0] + head * a->y_strides[1] + first * a->y_strides[2];
  tile.depth = end - begin;
  tile.a = shares;
  tile.c_row = a->y_strides[2];
  for (size_t j = 0; j < a->value_width; j += gemm_width) {
    tile.b = values + j * a->keys + begin * gemm_width;
    tile.c = y + j;
    tile.columns = gemm_min(gemm_width, a->value_width - j);
    gemm_compute_tile(&tile);
  }
  for (size_t r = 0; r < rows; r++) {
    float *sum = y + r * a->y_strides[2];
    size_t own = seen[r].begin - start, behind = seen[r].end - start;
    attention_add(a, values, scores + r * padded, own, gemm_min(begin, behind), sum);
    attention_add(a, values, scores + r * padded, own > end ? own : end, behind, sum);
  }
  for (size_t r = 0; r < rows; r++)
    for (size_t j = 0; j < a->value_width; j += CK_LANES) {
      size_t n = gemm_min(CK_LANES, a->value_width - j);
      float *at = y + r * a->y_strides[2] + j;
      vstore_part(at, vload_part(at, n) / vset(sums[r]), n);
    }
}

static void CK_NAME(ck_f32_attention)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_attention_args *a = args;
  size_t chunks = (a->queries + a->row_chunk - 1) / a->row_chunk;
  float *keys = scratch, *values = keys + a->width * attention_padded(a->keys);
  float *query = values + a->keys * attention_padded(a->value_width), *scores = query + ck_gemm_rows * a->width;
  float *shares = scores + ck_gemm_rows * attention_padded(a->keys);
  bool are_rows = a->query_strides[3] == 1 && a->key_strides[3] == 1 && a->value_strides[3] == 1;
  size_t packed = SIZE_MAX;
  for (size_t item = begin; item < end; item++) {
    size_t place = item / chunks, head = place % a->heads, batch = place / a->heads;
    size_t first = item % chunks * a->row_chunk, last = gemm_min(first + a->row_chunk, a->queries);
    if (are_rows && a->queries <= attention_few) {
      for (; first < last; first++) attention_query(a, batch, head, first, scores);
      continue;
    }
    size_t source = batch * (a->heads / a->sharing) + head / a->sharing;
    size_t start = attention_seen(a, batch, first).begin, stop = attention_seen(a, batch, last - 1).end;
    /* The same attention to the keys that queries of the chunk see. */
    ck_attention_args own = *a;
    own.keys = stop - start;
    if (!own.keys) {
      for (; first < last; first++)
        memset(
          a->y + batch * a->y_strides[0] + head * a->y_strides[1] + first * a->y_strides[2], 0,
          a->value_width * sizeof *a->y);
      continue;
    }
    if (own.mask) own.mask += start * own.mask_strides[3];
    if (source != packed || a->lengths) {
      size_t key_head = head / a->sharing;
      attention_pack(
        a->key + batch * a->key_strides[0] + key_head * a->key_strides[1] + start * a->key_strides[2], a->width,
        own.keys, a->key_strides[3], a->key_strides[2], keys);
      attention_pack(
        a->value + batch * a->value_strides[0] + key_head * a->value_strides[1] + start * a->value_strides[2], own.keys,
        a->value_width, a->value_strides[2], a->value_strides[3], values);
      packed = source;
    }
    for (; first < last; first += ck_gemm_rows) {
      size_t rows = gemm_min(ck_gemm_rows, last - first);
      attention_range seen[ck_gemm_rows];
      for (size_t r = 0; r < rows; r++) seen[r] = attention_seen(a, batch, first + r);
      attention_rows(&own, batch, head, first, rows, seen, start, keys, values, query, scores, shares);
    }
  }
}
