#pragma once

/* Units that multiply and add vectors or tiles, by the type of their operands. */
typedef enum {
  ck_unit_float32,
  ck_unit_bfloat16,
  ck_unit_float16,
  ck_unit_int8,
  ck_unit_bfloat16_tiles,
  ck_unit_int8_tiles,
  ck_units,
} ck_unit;

/* Writes the operations a second of each unit on the calling thread, a multiply-add counted as two; 0 for a unit that
 * the processor does not have, or that this process may not use. Takes a few hundred microseconds. */
void ck_measure_units(double rates[ck_units]);
