#include "ck_top_k.h"
#include "sort_key.h"

/* Whether `x` comes after `y`: smaller keys first, equal ones by position. */
static bool rank_after(ck_ranked x, ck_ranked y) {
  return x.key != y.key ? x.key > y.key : x.position > y.position;
}

/* Moves the element at `place` of a heap, whose root is the last in order, down to its position. */
static void rank_sink(ck_ranked *heap, size_t count, size_t place) {
  ck_ranked moving = heap[place];
  for (size_t child; (child = 2 * place + 1) < count; place = child) {
    if (child + 1 < count && rank_after(heap[child + 1], heap[child])) child++;
    if (!rank_after(heap[child], moving)) break;
    heap[place] = heap[child];
  }
  heap[place] = moving;
}

static void rank_build(ck_ranked *heap, size_t count) {
  for (size_t place = count / 2; place-- > 0;) rank_sink(heap, count, place);
}

/* Sorts a heap. */
static void rank_sort(ck_ranked *heap, size_t count) {
  while (count > 1) {
    ck_ranked last = heap[--count];
    heap[count] = heap[0];
    heap[0] = last;
    rank_sink(heap, count, 0);
  }
}

static void store_position(ck_scalar type, void *positions, size_t i, size_t position) {
  switch (typed_size(type)) {
  case 1: ((uint8_t *)positions)[i] = (uint8_t)position; break;
  case 2: ((uint16_t *)positions)[i] = (uint16_t)position; break;
  case 4: ((uint32_t *)positions)[i] = (uint32_t)position; break;
  default: ((uint64_t *)positions)[i] = position;
  }
}

enum { top_k_block = 32 };

/* The first element from `k` on, in whole blocks, of a contiguous row of float32 that may come before `limit`. A NaN may
 * always. */
static size_t rank_skip(const float *x, size_t k, size_t length, float limit, bool largest) {
  for (; k + top_k_block <= length; k += top_k_block) {
    uint32_t found = 0;
    if (largest)
      for (size_t i = 0; i < top_k_block; i++) found |= !(x[k + i] <= limit);
    else
      for (size_t i = 0; i < top_k_block; i++) found |= !(x[k + i] >= limit);
    if (found) break;
  }
  return k;
}

void ck_top_k_run(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_top_k_args *t = args;
  ck_ranked *heap = scratch;
  uint64_t flip = t->largest ? UINT64_MAX : 0;
  size_t element = typed_size(t->type);
  for (size_t item = begin; item < end; item++) {
    size_t outer = item / t->inner, inner = item % t->inner;
    size_t from = outer * t->length * t->inner + inner, to = outer * t->count * t->inner + inner;
    bool skips = t->type == ck_float32 && t->inner == 1 && t->count > 0;
    const float *row = (const float *)t->x + from;
    for (size_t k = 0; k < t->length; k++) {
      if (skips && k >= t->count && (k - t->count) % top_k_block == 0) {
        k = rank_skip(row, k, t->length, row[heap[0].position], t->largest);
        if (k == t->length) break;
      }
      ck_ranked next = {rank_key(t->type, t->x, from + k * t->inner) ^ flip, k};
      if (k < t->count) {
        heap[k] = next;
        if (k + 1 == t->count) rank_build(heap, t->count);
      } else if (rank_after(heap[0], next)) {
        heap[0] = next;
        rank_sink(heap, t->count, 0);
      }
    }
    rank_sort(heap, t->count);
    for (size_t k = 0; k < t->count; k++) {
      size_t place = to + k * t->inner, source = from + heap[k].position * t->inner;
      memcpy((char *)t->values + place * element, (const char *)t->x + source * element, element);
      store_position(t->position_type, t->positions, place, heap[k].position);
    }
  }
}

/* Whether the intersection of two boxes is more than `threshold` of their union. A box with NaN coordinates overlaps
 * none. */
static bool boxes_overlap(const float *x, const float *y, double threshold) {
  double shared = 1;
  for (size_t axis = 0; axis < 2; axis++) {
    if (isnan(x[axis]) || isnan(y[axis])) return false;
    double x_half = (double)x[axis + 2] / 2, y_half = (double)y[axis + 2] / 2;
    double side = fmin(x[axis] + x_half, y[axis] + y_half) - fmax(x[axis] - x_half, y[axis] - y_half);
    shared *= side > 0 ? side : 0;
  }
  return shared > 0 && shared > threshold * ((double)x[2] * x[3] + (double)y[2] * y[3] - shared);
}

static void suppress(const ck_suppression_args *s, size_t image, ck_ranked *ranked, uint32_t *classes) {
  const float *boxes = s->boxes + image * s->candidates * 4;
  const float *scores = s->scores + image * s->candidates * s->classes;
  float *picked_boxes = s->picked_boxes + image * s->maximum * 4;
  float *picked_scores = s->picked_scores + image * s->maximum * s->classes;
  int32_t *picked = s->picked + image * s->maximum;
  memset(picked_boxes, 0, s->maximum * 4 * sizeof(float));
  memset(picked_scores, 0, s->maximum * s->classes * sizeof(float));
  size_t found = 0, count = 0;
  for (size_t i = 0; i < s->candidates; i++) {
    const float *own = scores + i * s->classes;
    uint32_t best = 0;
    for (size_t k = 1; k < s->classes; k++)
      if (own[k] > own[best] || isnan(own[best])) best = (uint32_t)k;
    classes[i] = best;
    /* The largest score and, of equal ones, the lowest index comes last in order, which makes it the root. */
    if (own[best] >= *s->lowest) ranked[found++] = (ck_ranked){rank_float(own[best]), s->candidates - 1 - i};
  }
  rank_build(ranked, found);
  while (found && count < s->maximum) {
    size_t candidate = s->candidates - 1 - ranked[0].position;
    ranked[0] = ranked[--found];
    rank_sink(ranked, found, 0);
    bool kept = true;
    for (size_t k = 0; k < count && kept; k++) {
      size_t other = (size_t)picked[k];
      kept = (s->per_class && classes[other] != classes[candidate]) ||
        !boxes_overlap(boxes + other * 4, boxes + candidate * 4, *s->overlap);
    }
    if (!kept) continue;
    memcpy(picked_boxes + count * 4, boxes + candidate * 4, 4 * sizeof(float));
    memcpy(picked_scores + count * s->classes, scores + candidate * s->classes, s->classes * sizeof(float));
    picked[count++] = (int32_t)candidate;
  }
  for (size_t k = count; k < s->maximum; k++) picked[k] = -1;
  s->counts[image] = (int32_t)count;
}

void ck_suppression_run(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_suppression_args *s = args;
  ck_ranked *ranked = scratch;
  for (size_t image = begin; image < end; image++) suppress(s, image, ranked, (uint32_t *)(ranked + s->candidates));
}
