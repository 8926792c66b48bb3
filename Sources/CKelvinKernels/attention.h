/* Attention: of eight queries at a time all scores, their shares and the sum of values. Keys and values of a head are
 * packed as columns of products once for a chunk of queries, and nothing else is stored but one panel's scores. */
#pragma once
#include "ck_attention.h"
#include "gemm.h"
#include "reduce.h"
#include "vmath.h"

CK_INLINE size_t attention_padded(size_t columns) { return (columns + gemm_width - 1) / gemm_width * gemm_width; }

static size_t CK_NAME(ck_attention_elements)(const ck_attention_args *a) {
  size_t keys = attention_padded(a->keys);
  return a->width * keys + a->keys * attention_padded(a->value_width) + ck_gemm_rows * (a->width + 2 * keys);
}

/* Packs up to ck_gemm_rows rows as [depth][ck_gemm_rows], zero-filled, each times `scale`. */
static void attention_pack_rows(
  const float *x, size_t rows, size_t depth, size_t row_stride, size_t depth_stride, float scale, float *y) {
  size_t k = 0;
  if (rows == ck_gemm_rows && depth_stride == 1)
    for (; k + 8 <= depth; k += 8) gemm_turn(x + k, row_stride, y + k * ck_gemm_rows, ck_gemm_rows);
  for (; k < depth; k++)
    for (size_t r = 0; r < ck_gemm_rows; r++)
      y[k * ck_gemm_rows + r] = r < rows ? x[r * row_stride + k * depth_stride] : 0;
  if (scale != 1)
    for (size_t i = 0; i < depth * ck_gemm_rows; i++) y[i] *= scale;
}

/* Packs keys as columns: [panel][width][gemm_width], zero-filled. */
static void attention_pack_keys(const ck_attention_args *a, const float *key, float *y) {
  size_t key_stride = a->key_strides[2], step = a->key_strides[3];
  for (size_t first = 0; first < a->keys; first += gemm_width, y += a->width * gemm_width) {
    size_t count = gemm_min(gemm_width, a->keys - first), j = 0;
    if (step == 1)
      for (; j + 8 <= count; j += 8) {
        const float *from = key + (first + j) * key_stride;
        size_t k = 0;
        for (; k + 8 <= a->width; k += 8) gemm_turn(from + k, key_stride, y + k * gemm_width + j, gemm_width);
        for (; k < a->width; k++)
          for (size_t i = 0; i < 8; i++) y[k * gemm_width + j + i] = from[i * key_stride + k];
      }
    for (; j < gemm_width; j++)
      for (size_t k = 0; k < a->width; k++)
        y[k * gemm_width + j] = j < count ? key[(first + j) * key_stride + k * step] : 0;
  }
}

/* Packs the elements of values as columns: [panel][keys][gemm_width], zero-filled. */
static void attention_pack_values(const ck_attention_args *a, const float *value, float *y) {
  size_t row = a->value_strides[2], step = a->value_strides[3];
  for (size_t first = 0; first < a->value_width; first += gemm_width)
    for (size_t k = 0; k < a->keys; k++, y += gemm_width) {
      const float *from = value + k * row + first * step;
      size_t count = gemm_min(gemm_width, a->value_width - first);
      for (size_t j = 0; j < gemm_width; j += CK_LANES) {
        size_t n = j < count ? gemm_min(CK_LANES, count - j) : 0;
        vf x = vset(0);
        if (step == 1) x = vload_part(from + j, n);
        else
          for (size_t lane = 0; lane < n; lane++) x[lane] = from[(j + lane) * step];
        vstore(y + j, x);
      }
    }
}

/* e^(x + mask - max), zeros behind the last; the sum. */
static float attention_shares(float *x, const float *mask, size_t mask_step, size_t count, size_t padded) {
  vf added = vset(mask && !mask_step ? *mask : 0);
  if (mask)
    for (size_t i = 0; i < count; i += CK_LANES) {
      size_t n = gemm_min(CK_LANES, count - i);
      vstore_part(x + i, vload(x + i) + (mask_step ? vload_part(mask + i, n) : added), n);
    }
  vf shift = vset(reduce_row(ck_reduce_maximum, x, count, 0)), sums = vset(0);
  size_t i = 0;
  for (; i + CK_LANES <= count; i += CK_LANES) {
    vf term = vexp(vload(x + i) - shift);
    vstore(x + i, term);
    sums += term;
  }
  float rest = 0;
  if (i < count) {
    vf term = vexp(vload_part(x + i, count - i) - shift);
    rest = reduce_lanes(ck_reduce_sum, term, count - i);
    vstore_part(x + i, term, count - i);
  }
  for (i = count; i < padded; i++) x[i] = 0;
  return vsum(sums) + rest;
}

static void attention_rows(
  const ck_attention_args *a, size_t batch, size_t head, size_t first, size_t rows, const float *keys,
  const float *values, float *query, float *scores, float *shares) {
  size_t padded = attention_padded(a->keys);
  const float *q = a->query + batch * a->query_strides[0] + head * a->query_strides[1] + first * a->query_strides[2];
  attention_pack_rows(q, rows, a->width, a->query_strides[2], a->query_strides[3], a->scale, query);
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
    const float *mask = NULL;
    if (a->mask)
      mask = a->mask + batch * a->mask_strides[0] + head * a->mask_strides[1] + (first + r) * a->mask_strides[2];
    sums[r] = attention_shares(scores + r * padded, mask, a->mask_strides[3], a->keys, padded);
  }
  attention_pack_rows(scores, rows, a->keys, padded, 1, 1, shares);
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
      attention_pack_keys(a, a->key + batch * a->key_strides[0] + head * a->key_strides[1], keys);
      attention_pack_values(a, a->value + batch * a->value_strides[0] + head * a->value_strides[1], values);
      packed = place;
    }
    size_t first = item % chunks * a->row_chunk, last = gemm_min(first + a->row_chunk, a->queries);
    for (; first < last; first += ck_gemm_rows)
      attention_rows(
        a, batch, head, first, gemm_min(ck_gemm_rows, last - first), keys, values, query, scores, shares);
  }
}
