/* Quantization of rows by their own range, on the way into panels. */
#pragma once
#include "integer_pack.h"
#include "quantize_run.h"

/* Vectors whose bounds are kept apart, because each comparison waits for the one before. */
enum { range_parts = 4 };

static void CK_NAME(ck_i8_range)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_range_args *r = args;
  for (size_t item = begin; item < end; item++) {
    size_t first = item * ck_map_chunk, count = integer_min(ck_map_chunk, r->count - first), i = 0;
    const float *x = r->x + first;
    vf low[range_parts], high[range_parts];
    for (size_t part = 0; part < range_parts; part++) low[part] = high[part] = vset(x[0]);
    for (; i + range_parts * CK_LANES <= count; i += range_parts * CK_LANES)
#pragma clang loop unroll(full)
      for (size_t part = 0; part < range_parts; part++) {
        vf v = vload(x + i + part * CK_LANES);
        low[part] = vsmaller(v, low[part]);
        high[part] = vlarger(v, high[part]);
      }
    float least = x[0], most = x[0];
    for (; i < count; i++) {
      if (!(x[i] >= least)) least = x[i];
      if (!(x[i] <= most)) most = x[i];
      if (x[i] != x[i]) break;
    }
    for (size_t part = 1; part < range_parts; part++) {
      low[0] = vsmaller(low[part], low[0]);
      high[0] = vlarger(high[part], high[0]);
    }
    for (size_t lane = 0; lane < CK_LANES && least == least; lane++) {
      if (!(low[0][lane] >= least)) least = low[0][lane];
      if (!(high[0][lane] <= most)) most = high[0][lane];
    }
    r->bounds[2 * item] = least;
    r->bounds[2 * item + 1] = most;
  }
}

typedef struct {
  float scale;
  uint8_t zero;
} dynamic_parameters;

/* The parameters by which DynamicQuantizeLinear of ONNX maps a range to 0 ... 255. */
static dynamic_parameters dynamic_parameters_of(const ck_quantize_rows_args *q) {
  float lower = 0, upper = 0;
  bool is_number = true;
  for (size_t i = 0; i < q->chunks; i++) {
    float least = q->bounds[2 * i], most = q->bounds[2 * i + 1];
    if (least != least) is_number = false;
    if (least < lower) lower = least;
    if (most > upper) upper = most;
  }
  if (!is_number) return (dynamic_parameters){NAN, 0};
  float range = upper - lower, scale = range == 0 ? 1 : range / 255, zero = 0 - lower / scale;
  return (dynamic_parameters){scale, zero > 0 ? (uint8_t)rintf(zero < 255 ? zero : 255) : 0};
}

static void CK_NAME(ck_i8_quantize_rows)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_quantize_rows_args *q = args;
  dynamic_parameters p = dynamic_parameters_of(q);
  size_t groups = integer_groups(q->depth);
  for (size_t item = begin; item < end; item++) {
    if (item == 0) {
      *q->scale = p.scale;
      *q->zero = p.zero;
    }
    size_t first = item * integer_panel, lines = integer_min(integer_panel, q->lines - first);
    uint32_t *y = q->y + first * (groups + 1), *sums = y + groups * integer_panel;
    if (lines < integer_panel || groups > integer_words(q->depth))
      memset(y, 0, (groups + 1) * integer_panel * sizeof *y);
    for (size_t line = 0; line < lines; line++) {
      CK_NAME(ck_quantize_run_uint8_t)(q->x + (first + line) * q->depth, q->depth, p.scale, p.zero, scratch);
      sums[line] = integer_pack_run(scratch, q->depth, false, true, line, integer_panel, y);
    }
  }
}
