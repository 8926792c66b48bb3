/* Random numbers, memory and comparisons. */
#include "report.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Checks run on several threads. */
static _Thread_local uint64_t state;
static _Thread_local struct {
  const char *family, *variant;
  uint64_t seed;
  size_t index;
  char shape[400];
  /* The first difference. */
  bool differs;
  size_t element;
  double expected, got;
} now;

/* Regions of the case, each before a page that cannot be touched. */
enum { most_regions = 256 };
static _Thread_local struct {
  void *start;
  size_t size;
} regions[most_regions];
static _Thread_local size_t region_count;

void begin_case(const char *family, const char *variant, uint64_t seed, size_t number, size_t index) {
  now.family = family;
  now.variant = variant;
  now.seed = seed;
  now.index = index;
  now.shape[0] = 0;
  now.differs = false;
  state = (seed * 1000 + number) * 10000 + index;
}

bool end_case(char *text, size_t size) {
  for (size_t i = 0; i < region_count; i++)
    if (regions[i].size) munmap(regions[i].start, regions[i].size);
    else free(regions[i].start);
  region_count = 0;
  if (now.differs)
    snprintf(
      text, size, "%s of %s, seed %llu, case %zu: %s: element %zu is %.9g, expected %.9g", now.family, now.variant,
      (unsigned long long)now.seed, now.index, now.shape, now.element, now.got, now.expected);
  return !now.differs;
}

/* SplitMix64. */
uint64_t draw(void) {
  uint64_t x = state += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

size_t between(size_t least, size_t most) { return least + (size_t)(draw() % (most - least + 1)); }
bool one_in(size_t count) { return draw() % count == 0; }
float real(float least, float most) { return least + (most - least) * (float)(draw() >> 40) * 0x1p-24f; }

static void stop(const char *what) {
  fprintf(stderr, "kernel checks: %s\n", what);
  abort();
}

/* Sanitizers check accesses around memory of malloc; otherwise a protected page follows the memory. Memory of whole
 * words is aligned to words. */
void *memory(size_t size) {
  if (region_count == most_regions) stop("too many regions");
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  void *start = malloc(size), *result = start;
  size_t mapped = 0;
#else
  size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = parts(size, page) * page + page;
  char *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED || mprotect(start + mapped - page, page, PROT_NONE)) stop("no memory");
  void *result = start + mapped - page - size;
#endif
  memset(result, 0xFF, size);
  regions[region_count].start = start;
  regions[region_count++].size = mapped;
  return result;
}

float *unset(size_t count) { return memory(count * sizeof(float)); }

float *reals(size_t count, float least, float most) {
  float *x = unset(count);
  for (size_t i = 0; i < count; i++) x[i] = real(least, most);
  return x;
}

uint8_t *bytes(size_t count) {
  uint8_t *x = memory(count);
  for (size_t i = 0; i < count; i++) x[i] = (uint8_t)draw();
  return x;
}

void describe(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(now.shape, sizeof now.shape, format, list);
  va_end(list);
}

void run_all(ck_run run, const void *args, size_t items, size_t scratch) {
  for (size_t begin = 0; begin < items;) {
    size_t end = one_in(2) ? items : between(begin + 1, items);
    /* Kernels lay out words in the scratch memory. */
    run(args, begin, end, memory(parts(scratch, 16) * 16));
    begin = end;
    if (region_count + 40 > most_regions) {
      run(args, begin, items, memory(parts(scratch, 16) * 16));
      return;
    }
  }
}

static void differ(size_t index, double expected, double got) {
  if (now.differs) return;
  now.differs = true;
  now.element = index;
  now.expected = expected;
  now.got = got;
}

void expect_real(size_t index, double expected, double slack, float got) {
  bool agrees = isnan(expected)    ? isnan(got)
    : isinf((float)expected) ? got == (float)expected
                             : fabs(got - expected) <= slack + 0x1p-149;
  if (!agrees) differ(index, expected, (double)got);
}

void expect_integer(size_t index, int64_t expected, int64_t got) {
  if (expected != got) differ(index, (double)expected, (double)got);
}

void expect_untouched(size_t index, float got) {
  uint32_t bits;
  memcpy(&bits, &got, sizeof bits);
  if (bits != UINT32_MAX) differ(index, NAN, (double)got);
}
