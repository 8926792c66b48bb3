#pragma once
#include "ck_quantized.h"

/* Products by a unit that multiplies tiles (AMX). A tile has 16 rows of 16 words. The kernels are compiled twice: for
 * the unit, and for an emulation of it that computes the same bits on every processor. */

enum { ck_tile_rows = 16, ck_tile_words = 16 };

typedef enum {
  /* The processor or the operating system does not have the unit. */
  ck_tiles_absent,
  /* The processor has the unit, but this process may not use it. */
  ck_tiles_refused,
  ck_tiles_usable,
} ck_tile_support;

/* Asks the operating system once per process for the permission to use the unit, for all threads. With the permission,
 * an alternate signal stack has to be larger, so nothing asks before products of tiles are wanted. */
ck_tile_support ck_request_tiles(void);

typedef struct {
  /* Of ck_operands_tiles. */
  ck_product_kernels products;
  /* The kernels of products, on blocks of 16 channels and without `is_convolution` and `is_planar`. They compute the
   * same bits as kernels of vectors. A convolution's packed words have blocks of 64 input channels and a unit of 16. */
  ck_integer_kernels integers;
} ck_tile_kernels;

/* The kernels for the unit, or emulated; null if they are not compiled for this architecture. The kernels for the unit
 * require `ck_tiles_usable`. */
const ck_tile_kernels *ck_tiles(bool emulated);

/* The words of scratch in which a convolution by tiles keeps a band of `count` output rows or, if it does not copy,
 * positions. A group is 32 input channels of numbers, or 64 of integers. */
size_t ck_tile_band_words(const ck_window *window, bool copies, size_t groups, size_t count);

/* sums += a * b as the unit computes it, bit by bit except for the contents of NaN. Rows of `a` hold 32 bfloat16 along
 * the depth, words of `b` two that are neighbours along the depth.
 *
 * For each element, the products of even and of odd depths are added up from 0 by fused multiply-adds, then the two
 * sums, then the element. Each step rounds to the nearest float32, ties to even. Denormals are zeros, in operands and
 * results. */
void ck_emulate_tile_product(
  float sums[ck_tile_rows][ck_tile_words], const uint32_t a[ck_tile_rows][ck_tile_words],
  const uint32_t b[ck_tile_words][ck_tile_words]);

/* The same for words of four integers: sums += a * b, modulo 2^32. Integers of `a` are unsigned, of `b` signed. */
void ck_emulate_integer_tile_product(
  uint32_t sums[ck_tile_rows][ck_tile_words], const uint32_t a[ck_tile_rows][ck_tile_words],
  const uint32_t b[ck_tile_words][ck_tile_words]);
