#pragma once
#include "ck_kernels.h"

/* y = softmax(scale * q k^T + mask) v for each head. Strides are from batch to batch, head to head, row to row and
 * element to element. A mask's strides are from batch to batch, head to head, query to query and key to key, the last
 * one 0 or 1. A row of y is dense. Items are (batch, head, chunk of queries). `sharing` neighbouring heads read one head
 * of keys and values. With lengths, query i of a batch sees the keys up to number length + last_key + i, the last
 * `window` of these unless that is 0; the result of a query that sees none is zeros.
 * Scratch: ck_attention_elements, float32 elements. */
typedef struct ck_attention_args {
  const float *query, *key, *value;
  /* May be null. */
  const float *mask;
  float *y;
  size_t batch, heads, queries, keys, width, value_width;
  size_t query_strides[4], key_strides[4], value_strides[4], mask_strides[4], y_strides[3];
  float scale;
  size_t row_chunk;
  size_t sharing;
  /* One for each batch, of 64 bits or of 32; may be null. */
  const void *lengths;
  bool are_wide;
  int64_t last_key;
  size_t window;
} ck_attention_args;
