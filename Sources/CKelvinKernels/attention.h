/* Attention: for eight queries at a time, the scores, their softmax and the weighted sum of values. Keys and values
 * of a head are packed as columns of products once for a chunk of queries. Only the scores of eight queries are
 * stored. */
#pragma once
#include "ck_attention.h"
#include "gemm.h"
#include "softmax.h"

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

static void attention_rows(
  const ck_attention_args *a, size_t batch, size_t head, size_t first, size_t rows, const float *keys,
  const float *values, float *query, float *scores, float *shares) {
  size_t padded = attention_padded(a->keys);
  const float *q = a->query + batch * a->query_strides[0] + head * a->query_strides[1] + first * a->query_strides[2];
  gemm_pack_rows(q, rows, a->width, a->query_strides[2], a->query_strides[3], query);
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
    sums[r] = softmax_terms(row, row, a->keys);
  }
  gemm_pack_rows(scores, rows, a->keys, padded, 1, shares);
  float *y = a->y + batch * a->y_strides[0] + head * a->y_strides[1] + first * a->y_strides[2];
  tile.depth = a->keys;
  tile.a = shares;
  tile.c_row = a->y_strides[2];
  for (size_t j = 0; j < a->value_width; j += gemm_width) {
    tile.b = values + j * a->keys;
    tile.c = y + j;
    tile.columns = gemm_min(gemm_width, a->value_width - j);
    gemm_compute_tile(&tile);
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
  size_t packed = SIZE_MAX;
  for (size_t item = begin; item < end; item++) {
    size_t place = item / chunks, head = place % a->heads, batch = place / a->heads;
    if (place != packed) {
      attention_pack(
        a->key + batch * a->key_strides[0] + head * a->key_strides[1], a->width, a->keys, a->key_strides[3],
        a->key_strides[2], keys);
      attention_pack(
        a->value + batch * a->value_strides[0] + head * a->value_strides[1], a->keys, a->value_width,
        a->value_strides[2], a->value_strides[3], values);
      packed = place;
    }
    size_t first = item % chunks * a->row_chunk, last = gemm_min(first + a->row_chunk, a->queries);
    for (; first < last; first += ck_gemm_rows)
      attention_rows(
        a, batch, head, first, gemm_min(ck_gemm_rows, last - first), keys, values, query, scores, shares);
  }
}
