/* The configuration of the unit for tiles: all eight have 16 rows of 64 bytes. */
#pragma once
#include <stdint.h>

static const struct {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} tile_shape = {
  .palette = 1,
  .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
  .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};
