/* Copies between strides, and elements by index. These kernels are the same for every instruction set. */
#include "check.h"

/* A dense tensor of up to five axes. */
typedef struct {
  size_t rank, count, sizes[ck_max_rank], strides[ck_max_rank];
} tensor;

static tensor with_strides(tensor t) {
  t.count = 1;
  for (size_t axis = t.rank; axis-- > 0; t.count *= t.sizes[axis]) t.strides[axis] = t.count;
  return t;
}

static tensor random_tensor(void) {
  tensor t = {.rank = between(1, 5)};
  for (size_t axis = 0; axis < t.rank; axis++) t.sizes[axis] = PICK(1, 2, 2, 3, 4, 5);
  t.sizes[t.rank - 1] = PICK(1, 2, 3, 7, 8, 9, 16, 19, 33, 70);
  return with_strides(t);
}

static size_t index_along(const tensor *t, size_t element, size_t axis) {
  return element / t->strides[axis] % t->sizes[axis];
}

static int64_t load(const void *x, size_t size, size_t i) {
  switch (size) {
  case 1: return ((const uint8_t *)x)[i];
  case 2: return ((const uint16_t *)x)[i];
  case 4: return ((const uint32_t *)x)[i];
  default: return ((const int64_t *)x)[i];
  }
}

/* Items `begin` to `end` are copied, and all others are as `memory` gave them. */
static void expect_copied(const ck_copy_args *c, const tensor *t, size_t begin, size_t end) {
  for (size_t i = 0; i < t->count; i++) {
    size_t item = i / t->sizes[t->rank - 1];
    ptrdiff_t from = 0, to = 0;
    for (size_t axis = 0; axis < t->rank; axis++) {
      from += (ptrdiff_t)index_along(t, i, axis) * c->source_strides[axis];
      to += (ptrdiff_t)index_along(t, i, axis) * c->target_strides[axis];
    }
    int64_t nothing = c->element == 8 ? -1 : (int64_t)(UINT32_MAX >> (32 - 8 * c->element));
    const char *start = (const char *)c->source + from * (ptrdiff_t)c->element;
    expect_integer(
      i, begin <= item && item < end ? load(start, c->element, 0) : nothing, load(c->target, c->element, (size_t)to));
  }
}

/* The axes of the source are in any order; some repeat, and some run backwards. Items are copied in two parts, in any
 * order. */
void check_copy(const ck_kernels *k) {
  (void)k;
  tensor t = random_tensor();
  ck_copy_args c = {.element = PICK(1, 2, 4, 4, 8), .rank = t.rank};
  bool is_dense = one_in(2), is_repeated = one_in(2), is_kept = one_in(2);
  size_t order[ck_max_rank], extent = 1, room = 1, first = 0;
  for (size_t axis = 0; axis < t.rank; axis++) order[axis] = axis;
  for (size_t axis = t.rank; !is_kept && axis-- > 1;) {
    size_t other = draw() % (axis + 1), own = order[axis];
    order[axis] = order[other];
    order[other] = own;
  }
  for (size_t i = t.rank; i-- > 0;) {
    size_t axis = order[i];
    if (one_in(is_repeated ? 2 : 8)) continue;
    bool is_backward = one_in(8);
    c.source_strides[axis] = is_backward ? -(ptrdiff_t)extent : (ptrdiff_t)extent;
    if (is_backward) first += (t.sizes[axis] - 1) * extent;
    extent *= t.sizes[axis];
  }
  for (size_t axis = t.rank; axis-- > 0; room *= t.sizes[axis]) {
    if (!is_dense && one_in(3)) room++;
    c.sizes[axis] = t.sizes[axis];
    c.target_strides[axis] = (ptrdiff_t)room;
  }
  describe(
    "%zu bytes, sizes %zu %zu %zu %zu %zu, strides %td %td %td %td %td%s", c.element, c.sizes[0], c.sizes[1], c.sizes[2],
    c.sizes[3], c.sizes[4], c.source_strides[0], c.source_strides[1], c.source_strides[2], c.source_strides[3],
    c.source_strides[4], is_dense ? ", dense" : "");
  c.source = bytes(extent * c.element) + first * c.element;
  c.target = memory(room * c.element);
  size_t items = t.count / t.sizes[t.rank - 1], middle = between(0, items);
  bool is_late = one_in(2);
  ck_copy_run(&c, is_late ? middle : 0, is_late ? items : middle, NULL);
  expect_copied(&c, &t, is_late ? middle : 0, is_late ? items : middle);
  ck_copy_run(&c, is_late ? 0 : middle, is_late ? middle : items, NULL);
  expect_copied(&c, &t, 0, items);
}

/* Indices of an axis, some of which count from the end; at random one of them is outside. */
typedef struct {
  void *given;
  size_t *places;
  ck_scalar type;
  /* The position of the index outside, or the count. */
  size_t outside;
  int64_t wrong;
} some_indices;

static some_indices random_indices(size_t count, size_t length, bool can_fail) {
  some_indices s = {.type = (ck_scalar)PICK(ck_int64, ck_int64, ck_int32, ck_uint8), .outside = count};
  size_t size = s.type == ck_int64 ? 8 : s.type == ck_int32 ? 4 : 1;
  s.given = memory(count * size);
  s.places = memory(count * sizeof *s.places);
  if (can_fail && count > 0 && one_in(3)) s.outside = draw() % count;
  for (size_t i = 0; i < count; i++) {
    s.places[i] = draw() % length;
    int64_t given = (int64_t)s.places[i];
    if (s.type != ck_uint8 && one_in(3)) given -= (int64_t)length;
    if (i == s.outside) s.wrong = given = s.type != ck_uint8 && one_in(2) ? -(int64_t)length - 1 : (int64_t)length;
    if (size == 8) ((int64_t *)s.given)[i] = given;
    else if (size == 4) ((int32_t *)s.given)[i] = (int32_t)given;
    else ((uint8_t *)s.given)[i] = (uint8_t)given;
  }
  return s;
}

static void expect_fault(const some_indices *s, size_t count, size_t length, const ck_fault *fault) {
  expect_integer(count, s->outside < count, fault->is_set);
  if (s->outside == count) return;
  expect_integer(count, 7, fault->node);
  expect_integer(count, s->wrong, fault->index);
  expect_integer(count, (int64_t)length, (int64_t)fault->length);
}

void check_gather(const ck_kernels *k) {
  (void)k;
  ck_fault fault = {0};
  ck_gather_args g = {
    .fault = &fault, .node = 7, .outer = between(1, 4), .length = between(1, 40), .picked = PICK(1, 3, 7, 8, 9, 16, 33),
    .inner = PICK(1, 2, 4, 8, 12, 20)};
  some_indices s = random_indices(g.picked, g.length, true);
  describe("%zu x %zu x %zu bytes, %zu indices", g.outer, g.length, g.inner, g.picked);
  const uint8_t *x = bytes(g.outer * g.length * g.inner);
  g.x = x;
  g.indices = s.given;
  g.index_type = s.type;
  g.y = memory(g.outer * g.picked * g.inner);
  run_all(ck_gather_run, &g, g.outer * g.picked, 0);
  expect_fault(&s, g.picked, g.length, &fault);
  for (size_t i = 0; s.outside == g.picked && i < g.outer * g.picked; i++)
    for (size_t byte = 0; byte < g.inner; byte++)
      expect_integer(
        i, x[(i / g.picked * g.length + s.places[i % g.picked]) * g.inner + byte],
        ((const uint8_t *)g.y)[i * g.inner + byte]);
}

/* Indices along an axis for a part of a tensor, for a gather and a scatter. */
typedef struct {
  tensor whole, part;
  size_t axis;
  some_indices indices;
  ck_fault fault;
} elements;

static elements random_elements(bool can_fail) {
  elements e = {.whole = random_tensor()};
  e.axis = draw() % e.whole.rank;
  e.part = e.whole;
  e.part.sizes[e.axis] = PICK(1, 2, 7, 8, 9, 20);
  for (size_t axis = 0; axis < e.part.rank; axis++)
    if (axis != e.axis && one_in(4)) e.part.sizes[axis] = between(1, e.whole.sizes[axis]);
  e.part = with_strides(e.part);
  e.indices = random_indices(e.part.count, e.whole.sizes[e.axis], can_fail);
  describe(
    "indices of type %d along axis %zu of %zu, part %zu %zu %zu %zu %zu", e.indices.type, e.axis, e.whole.sizes[e.axis],
    e.part.sizes[0], e.part.sizes[1], e.part.sizes[2], e.part.sizes[3], e.part.sizes[4]);
  return e;
}

/* The element of the whole that an element of the part names. */
static size_t named(const elements *e, size_t i) {
  size_t at = 0;
  for (size_t axis = 0; axis < e->part.rank; axis++)
    at += e->whole.strides[axis] * (axis == e->axis ? e->indices.places[i] : index_along(&e->part, i, axis));
  return at;
}

void check_gather_elements(const ck_kernels *k) {
  (void)k;
  elements e = random_elements(true);
  ck_gather_elements_args g = {
    .indices = e.indices.given, .fault = &e.fault, .node = 7, .index_type = e.indices.type, .element = PICK(1, 2, 4, 8),
    .rank = e.part.rank, .axis = e.axis, .length = e.whole.sizes[e.axis]};
  memcpy(g.sizes, e.part.sizes, sizeof g.sizes);
  memcpy(g.x_strides, e.whole.strides, sizeof g.x_strides);
  g.x = bytes(e.whole.count * g.element);
  g.y = memory(e.part.count * g.element);
  run_all(ck_gather_elements_run, &g, e.part.count / e.part.sizes[e.part.rank - 1], 0);
  expect_fault(&e.indices, e.part.count, g.length, &e.fault);
  for (size_t i = 0; e.indices.outside == e.part.count && i < e.part.count; i++)
    expect_integer(i, load(g.x, g.element, named(&e, i)), load(g.y, g.element, i));
}

static int64_t combined(ck_scatter reduction, int64_t y, int64_t update) {
  switch (reduction) {
  case ck_scatter_replace: return update;
  case ck_scatter_add: return y + update;
  case ck_scatter_multiply: return y * update;
  case ck_scatter_minimum: return update < y ? update : y;
  default: return update > y ? update : y;
  }
}

/* Numbers of small whole values, which all types hold and no sum rounds. */
static int64_t number(ck_scalar type, const void *x, size_t i) {
  return type == ck_float32 ? (int64_t)((const float *)x)[i] : type == ck_int32 ? ((const int32_t *)x)[i]
    : type == ck_int64                                                         ? ((const int64_t *)x)[i]
                                                                               : ((const int8_t *)x)[i];
}

static void *numbers(ck_scalar type, size_t count) {
  size_t size = type == ck_int64 ? 8 : type == ck_int8 ? 1 : 4;
  void *x = memory(count * size);
  for (size_t i = 0; i < count; i++) {
    int64_t value = (int64_t)between(0, 4) - 2;
    if (type == ck_float32) ((float *)x)[i] = (float)value;
    else if (type == ck_int32) ((int32_t *)x)[i] = (int32_t)value;
    else if (type == ck_int64) ((int64_t *)x)[i] = value;
    else ((int8_t *)x)[i] = (int8_t)value;
  }
  return x;
}

/* A null fault skips the updates outside; another ends the kernel. */
void check_scatter_elements(const ck_kernels *k) {
  (void)k;
  bool skips = one_in(3);
  elements e = random_elements(true);
  ck_scatter_elements_args s = {
    .indices = e.indices.given, .fault = skips ? NULL : &e.fault, .node = 7, .index_type = e.indices.type,
    .type = (ck_scalar)PICK(ck_float32, ck_float32, ck_int32, ck_int64, ck_int8),
    .reduction = (ck_scatter)PICK(ck_scatter_replace, ck_scatter_replace, ck_scatter_add, ck_scatter_minimum, ck_scatter_maximum),
    .rank = e.part.rank, .axis = e.axis, .length = e.whole.sizes[e.axis]};
  memcpy(s.sizes, e.part.sizes, sizeof s.sizes);
  memcpy(s.y_strides, e.whole.strides, sizeof s.y_strides);
  s.updates = numbers(s.type, e.part.count);
  s.y = numbers(s.type, e.whole.count);
  int64_t *expected = memory(e.whole.count * sizeof *expected);
  for (size_t i = 0; i < e.whole.count; i++) expected[i] = number(s.type, s.y, i);
  for (size_t i = 0; i < e.part.count; i++)
    if (i != e.indices.outside) {
      int64_t *y = expected + named(&e, i);
      *y = combined(s.reduction, *y, number(s.type, s.updates, i));
    }
  size_t items = 1;
  for (size_t axis = 0; axis < e.axis; axis++) items *= e.part.sizes[axis];
  run_all(ck_scatter_elements_run, &s, items, 0);
  if (!skips) expect_fault(&e.indices, e.part.count, s.length, &e.fault);
  if (!skips && e.indices.outside < e.part.count) return;
  for (size_t i = 0; i < e.whole.count; i++)
    expect_integer(i, s.type == ck_int8 ? (int8_t)expected[i] : expected[i], number(s.type, s.y, i));
}

void check_update_cache(const ck_kernels *k) {
  (void)k;
  size_t batch = between(1, 2), step = one_in(3) ? 2 : 1;
  ck_update_cache_args c = {
    .heads = between(1, 3), .count = between(1, 4), .length = PICK(4, 5, 9), .width = PICK(1, 3, 8, 17),
    .are_wide = one_in(2), .first = (int64_t)between(0, 8) - 4};
  int64_t wide[2];
  int32_t narrow[2];
  for (size_t i = 0; i < 2; i++) wide[i] = narrow[i] = one_in(8) ? INT32_MAX : (int32_t)between(0, 12) - 3;
  c.lengths = c.are_wide ? (const void *)wide : narrow;
  c.strides[3] = step;
  c.strides[1] = c.width * step;
  c.strides[2] = c.heads * c.strides[1];
  c.strides[0] = c.count * c.strides[2];
  c.rows = reals(batch * c.strides[0], -1, 1);
  size_t size = batch * c.heads * c.length * c.width;
  float *cache = numbers(ck_float32, size);
  double *expected = memory(size * sizeof *expected);
  for (size_t i = 0; i < size; i++) expected[i] = (double)cache[i];
  for (size_t b = 0; b < batch; b++)
    for (size_t h = 0; h < c.heads; h++)
      for (size_t row = 0; row < c.count; row++) {
        int64_t place = wide[b] + c.first + (int64_t)row;
        if (place < 0 || place >= (int64_t)c.length) continue;
        for (size_t i = 0; i < c.width; i++)
          expected[((b * c.heads + h) * c.length + (size_t)place) * c.width + i] =
            (double)c.rows[b * c.strides[0] + h * c.strides[1] + row * c.strides[2] + i * step];
      }
  c.cache = cache;
  run_all(ck_update_cache_run, &c, batch * c.heads * c.count, 0);
  for (size_t i = 0; i < size; i++) expect_real(i, expected[i], 0, cache[i]);
}
