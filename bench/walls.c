// The limits of a machine: multiply-adds in float32, and bytes that are read or copied from sets of given sizes.
//
// Usage: walls THREADS VECTOR BYTES…    prints one JSON object, rates a second of all threads together, with the widest
//                                       vectors that there are of at most VECTOR bytes

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TRIALS 60
#define STEPS 300000
#define MOVED 2e8
#define EACH(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11)

typedef struct {
  const char *name;
  int bytes;
  void (*multiply)(float *values);
  void (*read)(float *values, size_t count);
  void (*copy)(float *values, size_t count);
} Width;

// Twelve sums at a time, so that none waits for the one before it. `values` has room for one vector and starts with numbers
// that keep sums finite and normal.
#define WIDTH(name, size, target) \
  typedef float name##_vector __attribute__((vector_size(size))); \
  target static void name##_multiply(float *values) { \
    name##_vector factor = *(name##_vector *)values; \
    EACH(START_##name) \
    for (long step = 0; step < STEPS; step++) { EACH(MULTIPLY) } \
    *(name##_vector *)values += (EACH(SUM) factor) * 1e-30f; \
  } \
  target static void name##_read(float *values, size_t count) { \
    name##_vector *from = (name##_vector *)values, factor = *from; \
    EACH(START_##name) \
    for (size_t place = 0; place + 12 <= count / (size / 4); place += 12) { EACH(READ) } \
    *from += (EACH(SUM) factor) * 1e-30f; \
  } \
  target static void name##_copy(float *values, size_t count) { \
    size_t half = count / (size / 4) / 2; \
    name##_vector *from = (name##_vector *)values, *to = from + half; \
    for (size_t place = 0; place + 12 <= half; place += 12) { EACH(COPY) } \
    __asm__ volatile("" : : "r"(to) : "memory"); \
  }
#define MULTIPLY(n) sum##n = sum##n * factor + factor;
#define READ(n) sum##n += from[place + n];
#define COPY(n) to[place + n] = from[place + n];
#define SUM(n) sum##n +
#define START_plain(n) plain_vector sum##n = factor * (float)(n + 1);
#define START_avx2(n) avx2_vector sum##n = factor * (float)(n + 1);
#define START_avx512(n) avx512_vector sum##n = factor * (float)(n + 1);

WIDTH(plain, 16, )
#ifdef __x86_64__
WIDTH(avx2, 32, __attribute__((target("avx2,fma"))))
WIDTH(avx512, 64, __attribute__((target("avx512f"))))
#endif

static Width width(int most) {
#ifdef __x86_64__
  if (most >= 64 && __builtin_cpu_supports("avx512f"))
    return (Width){"AVX-512", 64, avx512_multiply, avx512_read, avx512_copy};
  if (most >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return (Width){"AVX2", 32, avx2_multiply, avx2_read, avx2_copy};
#endif
  return (Width){"128 bits", 16, plain_multiply, plain_read, plain_copy};
}

typedef enum { MULTIPLIES, READS, COPIES } Kind;

typedef struct {
  Kind kind;
  Width width;
  size_t count;
  long passes;
  pthread_barrier_t *barrier;
  double begin[TRIALS], end[TRIALS];
} Work;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void pass(const Work *work, float *values) {
  if (work->kind == MULTIPLIES) work->width.multiply(values);
  if (work->kind == READS) work->width.read(values, work->count);
  if (work->kind == COPIES) work->width.copy(values, work->count);
}

// Passes over values of its own, each trial at the same time as the other threads.
static void *worker(void *argument) {
  Work *work = argument;
  float *values;
  if (posix_memalign((void **)&values, 4096, work->count * sizeof(float))) abort();
  for (size_t place = 0; place < work->count; place++)
    values[place] = 0.25f + (place * 2654435761u >> 16 & 0xff) / 1024.0f;
  pass(work, values);
  for (int trial = 0; trial < TRIALS; trial++) {
    pthread_barrier_wait(work->barrier);
    work->begin[trial] = now();
    for (long index = 0; index < work->passes; index++) pass(work, values);
    work->end[trial] = now();
  }
  free(values);
  return NULL;
}

// The fewest seconds from the first thread's begin to the last one's end.
static double fastest(Work common, int threads) {
  pthread_barrier_t barrier;
  pthread_t handles[threads];
  Work works[threads];
  pthread_barrier_init(&barrier, NULL, threads);
  common.barrier = &barrier;
  for (int index = 0; index < threads; index++) {
    works[index] = common;
    if (pthread_create(&handles[index], NULL, worker, &works[index])) abort();
  }
  for (int index = 0; index < threads; index++) pthread_join(handles[index], NULL);
  pthread_barrier_destroy(&barrier);
  double best = INFINITY;
  for (int trial = 0; trial < TRIALS; trial++) {
    double begin = INFINITY, end = 0;
    for (int index = 0; index < threads; index++) {
      begin = fmin(begin, works[index].begin[trial]);
      end = fmax(end, works[index].end[trial]);
    }
    best = fmin(best, end - begin);
  }
  return best;
}

static double bytes_per_second(Kind kind, Width width, size_t bytes, int threads) {
  size_t each = bytes / threads / 4;
  long passes = (long)(MOVED / (each * 4.0)) + 1;
  Work work = {.kind = kind, .width = width, .count = each, .passes = passes};
  return (double)each * 4 * passes * threads / fastest(work, threads);
}

int main(int count, char **arguments) {
  int threads = count > 2 ? atoi(arguments[1]) : 0;
  if (threads < 1) {
    fprintf(stderr, "usage: walls THREADS VECTOR BYTES…\n");
    return 64;
  }
  Width widest = width(atoi(arguments[2]));
  double operations = 2.0 * 12 * (widest.bytes / 4) * STEPS * threads;
  printf("{\"vectors\": \"%s\", \"operations\": %.6g, \"sets\": [", widest.name,
         operations / fastest((Work){.kind = MULTIPLIES, .width = widest, .count = 16, .passes = 1}, threads));
  for (int index = 3; index < count; index++) {
    size_t bytes = strtoull(arguments[index], NULL, 10);
    printf("%s{\"bytes\": %zu, \"read\": %.6g, \"copied\": %.6g}", index > 3 ? ", " : "", bytes,
           bytes_per_second(READS, widest, bytes, threads), bytes_per_second(COPIES, widest, bytes, threads));
  }
  printf("]}\n");
  return 0;
}
