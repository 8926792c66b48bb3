#include "ck_recurrence.h"
#include <string.h>

/* Hidden units of one row. */
typedef struct {
  const ck_recurrence_args *r;
  size_t row, first, count;
  /* Whether the row has this step, and its index in x and y. */
  bool active;
  size_t place;
  const float *x, *products;
  /* The offset of the units in [rows][hidden]. */
  size_t state;
} units;

static units units_of(const ck_recurrence_args *r, size_t item, size_t gates, size_t products) {
  size_t chunks = (r->hidden + ck_recurrence_chunk - 1) / ck_recurrence_chunk;
  units u = {.r = r, .row = item / chunks, .first = item % chunks * ck_recurrence_chunk};
  u.count = r->hidden - u.first < ck_recurrence_chunk ? r->hidden - u.first : ck_recurrence_chunk;
  int64_t length = r->lengths ? r->lengths[u.row] : (int64_t)r->steps;
  if (length < 0) length = 0;
  if (length > (int64_t)r->steps) length = (int64_t)r->steps;
  u.active = (int64_t)r->step < length;
  size_t step = u.active && r->reversed ? (size_t)length - 1 - r->step : r->step;
  u.place = (step * r->rows + u.row) * r->hidden + u.first;
  u.x = r->x + (step * r->rows + u.row) * gates * r->hidden + u.first;
  u.products = r->products + u.row * products * r->hidden + u.first;
  u.state = u.row * r->hidden + u.first;
  return u;
}

static float within(float x, float limit) { return x < -limit ? -limit : x > limit ? limit : x; }

/* Applies the activation to sums, which may be any number. */
static void activate(const units *u, size_t function, float *sums) {
  ck_recurrence_function f = u->r->functions[function];
  for (size_t i = 0; i < u->count; i++) sums[i] = within(sums[i], u->r->gate_limit);
  f.map(sums, sums, u->count, f.a, f.b);
}

/* Computes f(x + R h), including peepholes. */
static void gate(const units *u, size_t gate, size_t function, const float *seen, float *y) {
  size_t hidden = u->r->hidden;
  const float *x = u->x + gate * hidden, *product = u->products + gate * hidden;
  for (size_t i = 0; i < u->count; i++) y[i] = x[i] + product[i];
  if (seen && u->r->peepholes) {
    const float *peepholes = u->r->peepholes + gate * hidden + u->first;
    for (size_t i = 0; i < u->count; i++) y[i] += peepholes[i] * seen[i];
  }
  activate(u, function, y);
}

static void lstm(const units *u) {
  const ck_recurrence_args *r = u->r;
  const float *before = r->cell_before + u->state;
  float input[ck_recurrence_chunk], forget[ck_recurrence_chunk], output[ck_recurrence_chunk];
  float candidate[ck_recurrence_chunk], cell[ck_recurrence_chunk];
  gate(u, 0, 0, before, input);
  if (r->coupled)
    for (size_t i = 0; i < u->count; i++) forget[i] = 1 - input[i];
  else
    gate(u, 1, 0, before, forget);
  gate(u, 3, 1, NULL, candidate);
  for (size_t i = 0; i < u->count; i++)
    cell[i] = within(forget[i] * before[i] + input[i] * candidate[i], r->cell_limit);
  gate(u, 2, 0, cell, output);
  memcpy(r->cell_after + u->state, cell, u->count * sizeof *cell);
  r->functions[2].map(cell, cell, u->count, r->functions[2].a, r->functions[2].b);
  for (size_t i = 0; i < u->count; i++) r->hidden_after[u->state + i] = output[i] * cell[i];
}

static void gru(const units *u) {
  const ck_recurrence_args *r = u->r;
  const float *x = u->x + 2 * r->hidden;
  float update[ck_recurrence_chunk], candidate[ck_recurrence_chunk];
  gate(u, 0, 0, NULL, update);
  if (r->resets_after) {
    const float *product = u->products + 2 * r->hidden, *bias = r->candidate_bias + u->first;
    gate(u, 1, 0, NULL, candidate);
    for (size_t i = 0; i < u->count; i++) candidate[i] = x[i] + candidate[i] * (product[i] + bias[i]);
  } else {
    const float *product = r->candidates + u->state;
    for (size_t i = 0; i < u->count; i++) candidate[i] = x[i] + product[i];
  }
  activate(u, 1, candidate);
  for (size_t i = 0; i < u->count; i++)
    r->hidden_after[u->state + i] =
      (1 - update[i]) * candidate[i] + update[i] * r->hidden_before[u->state + i];
}

void ck_recurrence_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_recurrence_args *r = args;
  size_t gates = r->cell == ck_recurrence_lstm ? 4 : r->cell == ck_recurrence_gru ? 3 : 1;
  size_t products = r->cell == ck_recurrence_gru && !r->resets_after ? 2 : gates;
  for (size_t item = begin; item < end; item++) {
    units u = units_of(r, item, gates, products);
    size_t size = u.count * sizeof(float);
    if (!u.active) {
      memmove(r->hidden_after + u.state, r->hidden_before + u.state, size);
      if (r->cell_after) memmove(r->cell_after + u.state, r->cell_before + u.state, size);
      memset(r->y + u.place, 0, size);
      continue;
    }
    switch (r->cell) {
    case ck_recurrence_lstm: lstm(&u); break;
    case ck_recurrence_gru: gru(&u); break;
    case ck_recurrence_simple: gate(&u, 0, 0, NULL, r->hidden_after + u.state); break;
    }
    memcpy(r->y + u.place, r->hidden_after + u.state, size);
  }
}

void ck_recurrence_reset_run(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_recurrence_args *r = args;
  for (size_t item = begin; item < end; item++) {
    units u = units_of(r, item, 3, 2);
    float *reset_hidden = r->reset_hidden + u.state;
    gate(&u, 1, 0, NULL, reset_hidden);
    for (size_t i = 0; i < u.count; i++) reset_hidden[i] *= r->hidden_before[u.state + i];
  }
}
