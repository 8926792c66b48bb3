/* The instructions of the unit for tiles, or their emulation if the including file defines CK_TILES_EMULATED. Numbers
 * of tiles are literals. The state of the unit belongs to the thread. Kernels of vectors have nothing to begin. */
#pragma once
#include "ck_tiles.h"
#include "simd.h"
#include "tile_shape.h"

#ifndef CK_TILES
CK_INLINE void tiles_begin(void) {}
CK_INLINE void tiles_end(void) {}
#elif defined(CK_TILES_EMULATED)
static _Thread_local struct {
  uint32_t words[ck_tile_rows][ck_tile_words];
} emulated_tiles[8];

static void emulated_load(size_t tile, const void *from, size_t stride) {
  for (size_t row = 0; row < ck_tile_rows; row++)
    memcpy(emulated_tiles[tile].words[row], (const char *)from + row * stride, sizeof *emulated_tiles[tile].words);
}

static void emulated_store(size_t tile, void *to, size_t stride) {
  for (size_t row = 0; row < ck_tile_rows; row++)
    memcpy((char *)to + row * stride, emulated_tiles[tile].words[row], sizeof *emulated_tiles[tile].words);
}

static void emulated_multiply(size_t sum, size_t a, size_t b) {
  float sums[ck_tile_rows][ck_tile_words];
  memcpy(sums, &emulated_tiles[sum], sizeof sums);
  ck_emulate_tile_product(sums, emulated_tiles[a].words, emulated_tiles[b].words);
  memcpy(&emulated_tiles[sum], sums, sizeof sums);
}

static void emulated_multiply_bytes(size_t sum, size_t a, size_t b) {
  ck_emulate_integer_tile_product(emulated_tiles[sum].words, emulated_tiles[a].words, emulated_tiles[b].words);
}

#define TILE_ZERO(tile) memset(&emulated_tiles[tile], 0, sizeof emulated_tiles[tile])
#define TILE_LOAD(tile, from, stride) emulated_load(tile, from, stride)
#define TILE_STORE(tile, to, stride) emulated_store(tile, to, stride)
#define TILE_MULTIPLY(sum, a, b) emulated_multiply(sum, a, b)
#define TILE_MULTIPLY_BYTES(sum, a, b) emulated_multiply_bytes(sum, a, b)
CK_INLINE void tiles_begin(void) {}
CK_INLINE void tiles_end(void) {}
#else
#define TILE_ZERO(tile) _tile_zero(tile)
#define TILE_LOAD(tile, from, stride) _tile_loadd(tile, from, stride)
#define TILE_STORE(tile, to, stride) _tile_stored(tile, to, stride)
#define TILE_MULTIPLY(sum, a, b) _tile_dpbf16ps(sum, a, b)
#define TILE_MULTIPLY_BYTES(sum, a, b) _tile_dpbusd(sum, a, b)

CK_INLINE void tiles_begin(void) { _tile_loadconfig(&tile_shape); }
/* A thread that waits with tiles in use makes switches between threads dearer, and may keep the core from sleeping. */
CK_INLINE void tiles_end(void) { _tile_release(); }
#endif
