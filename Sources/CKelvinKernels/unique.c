#include "ck_unique.h"
#include "sort_key.h"

/* Negative, zero or positive if slice `a` is before, equal to, or after slice `b`. */
static int compare_slices(const ck_unique_args *u, size_t a, size_t b) {
  for (size_t outer = 0; outer < u->outer; outer++) {
    size_t from = outer * u->length * u->inner;
    for (size_t i = 0; i < u->inner; i++) {
      uint64_t x = rank_key(u->type, u->x, from + a * u->inner + i);
      uint64_t y = rank_key(u->type, u->x, from + b * u->inner + i);
      if (x != y) return x < y ? -1 : 1;
    }
  }
  return 0;
}

/* Sorts the indices of all slices, equal slices by index. Returns the sorted indices, which are in one of the two
 * buffers. */
static uint64_t *sort_slices(const ck_unique_args *u, uint64_t *order, uint64_t *other) {
  for (size_t i = 0; i < u->length; i++) order[i] = i;
  for (size_t run = 1; run < u->length; run *= 2) {
    for (size_t start = 0; start < u->length; start += 2 * run) {
      size_t middle = start + run < u->length ? start + run : u->length;
      size_t end = middle + run < u->length ? middle + run : u->length;
      for (size_t i = start, left = start, right = middle; i < end; i++) {
        bool takes_left = left < middle && (right == end || compare_slices(u, order[left], order[right]) <= 0);
        other[i] = takes_left ? order[left++] : order[right++];
      }
    }
    uint64_t *sorted = other;
    other = order;
    order = sorted;
  }
  return order;
}

void ck_unique_run(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_unique_args *u = args;
  if (begin == end) return;
  size_t found = 0;
  uint64_t *rooms = scratch;
  const uint64_t *order = sort_slices(u, rooms, rooms + u->length);
  for (size_t i = 0; i < u->length; i++) {
    if (i > 0 && compare_slices(u, order[i - 1], order[i]) != 0) found++;
    u->inverse[order[i]] = (int64_t)found;
  }
  if (u->length > 0) found++;
  /* The number of each unique slice, indexed by its rank. */
  uint64_t *numbers = rooms;
  for (size_t i = 0; i < found; i++) numbers[i] = u->sorted ? i : UINT64_MAX;
  memset(u->first, 0, u->length * sizeof *u->first);
  memset(u->counts, 0, u->length * sizeof *u->counts);
  size_t next = 0;
  for (size_t i = 0; i < u->length; i++) {
    uint64_t *number = &numbers[u->inverse[i]];
    if (*number == UINT64_MAX) *number = next++;
    u->inverse[i] = (int64_t)*number;
    if (u->counts[*number]++ == 0) u->first[*number] = (int64_t)i;
  }
  *u->found = (int32_t)found;
}
