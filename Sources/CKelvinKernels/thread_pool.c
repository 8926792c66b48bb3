#define _GNU_SOURCE
#include "ck_thread_pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { max_workers = 255, spins = 4000 };

/* A task is published by writing its description and then `cursor`: the epoch of the task in the upper half and the
 * next unclaimed item in the lower. A claim is a compare-and-swap of the whole word, so it succeeds only if the
 * description that was read before it is still valid. The job cannot end before the claimed items are done. */
struct ck_thread_pool {
  _Alignas(64) _Atomic uint64_t cursor;
  _Atomic(const ck_task *) task;
  _Atomic size_t count;
  _Atomic size_t grain;
  _Atomic size_t threads;
  _Atomic(char *) scratch;
  _Atomic size_t scratch_stride;

  _Alignas(64) _Atomic size_t done;
  /* Set to 1 by the owner before it sleeps; the thread that completes a task clears it and wakes the owner. */
  _Atomic uint32_t owner_sleeps;

  _Alignas(64) _Atomic uint32_t epoch;
  _Atomic uint32_t sleepers;

  _Alignas(64) pthread_mutex_t owner;
  size_t workers;
};

typedef struct {
  ck_thread_pool *pool;
  size_t index;
} worker;

/* Whether the thread is running a task. */
static _Thread_local bool is_inside;

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Claims and runs items of the current task until none are left. Returns whether it ran any. */
static bool work(ck_thread_pool *pool, size_t index) {
  bool ran = false;
  for (;;) {
    uint64_t cursor = atomic_load_explicit(&pool->cursor, memory_order_acquire);
    size_t count = atomic_load_explicit(&pool->count, memory_order_relaxed);
    size_t grain = atomic_load_explicit(&pool->grain, memory_order_relaxed);
    const ck_task *task = atomic_load_explicit(&pool->task, memory_order_relaxed);
    size_t threads = atomic_load_explicit(&pool->threads, memory_order_relaxed);
    char *scratch = atomic_load_explicit(&pool->scratch, memory_order_relaxed);
    size_t stride = atomic_load_explicit(&pool->scratch_stride, memory_order_relaxed);
    size_t begin = (uint32_t)cursor;
    if (begin >= count || index >= threads) return ran;
    size_t end = count - begin > grain ? begin + grain : count;
    uint64_t next = (cursor & ~(uint64_t)UINT32_MAX) | end;
    atomic_thread_fence(memory_order_acquire);
    if (!atomic_compare_exchange_weak_explicit(
          &pool->cursor, &cursor, next, memory_order_acq_rel, memory_order_relaxed))
      continue;
    task->run(task->args, begin, end, scratch + index * stride);
    ran = true;
    size_t done = atomic_fetch_add_explicit(&pool->done, end - begin, memory_order_seq_cst) + (end - begin);
    if (done == count && index != 0 && atomic_exchange(&pool->owner_sleeps, 0)) futex_wake(&pool->owner_sleeps, 1);
  }
}

static void *worker_main(void *argument) {
  worker self = *(worker *)argument;
  ck_thread_pool *pool = self.pool;
  is_inside = true;
  uint32_t seen = atomic_load(&pool->epoch);
  for (;;) {
    work(pool, self.index);
    int spin = 0;
    while (atomic_load_explicit(&pool->epoch, memory_order_acquire) == seen) {
      if (spin++ < spins) {
        relax();
        continue;
      }
      atomic_fetch_add(&pool->sleepers, 1);
      futex_wait(&pool->epoch, seen);
      atomic_fetch_sub(&pool->sleepers, 1);
    }
    seen = atomic_load_explicit(&pool->epoch, memory_order_acquire);
  }
  return NULL;
}

/* Called by the owner only. Fewer threads than wanted are not an error, because the caller does the work. */
static void start_workers(ck_thread_pool *pool, size_t wanted) {
  static worker workers[max_workers];
  if (wanted > max_workers) wanted = max_workers;
  while (pool->workers < wanted) {
    size_t slot = pool->workers;
    workers[slot] = (worker){pool, slot + 1};
    sigset_t others, before;
    sigfillset(&others);
    /* A blocked fault signal ends the process even if it has a handler (guarded_mapping.h), so these signals stay
     * unblocked. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&others, faults[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, worker_main, &workers[slot]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) return;
    pthread_setname_np(thread, "kelvin-cpu");
    pthread_detach(thread);
    pool->workers++;
  }
}

static void publish(ck_thread_pool *pool, const ck_task *task, const ck_job *job) {
  /* An empty task is published first: a worker that reads half of the new description finds nothing to claim under
   * the old epoch. */
  uint64_t epoch = (atomic_load_explicit(&pool->cursor, memory_order_relaxed) >> 32) + 1;
  atomic_store_explicit(&pool->cursor, epoch << 32 | UINT32_MAX, memory_order_seq_cst);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store_explicit(&pool->count, task->count, memory_order_relaxed);
  atomic_store_explicit(&pool->grain, task->grain, memory_order_relaxed);
  atomic_store_explicit(&pool->task, task, memory_order_relaxed);
  atomic_store_explicit(&pool->threads, job->threads, memory_order_relaxed);
  atomic_store_explicit(&pool->scratch, job->scratch, memory_order_relaxed);
  atomic_store_explicit(&pool->scratch_stride, job->scratch_stride, memory_order_relaxed);
  atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
  atomic_store_explicit(&pool->cursor, (epoch + 1) << 32, memory_order_seq_cst);
  atomic_fetch_add_explicit(&pool->epoch, 1, memory_order_seq_cst);
  if (atomic_load_explicit(&pool->sleepers, memory_order_seq_cst)) {
    size_t chunks = (task->count + task->grain - 1) / task->grain - 1;
    bool all = pool->workers >= job->threads || chunks > INT_MAX;
    futex_wake(&pool->epoch, all ? INT_MAX : (int)chunks);
  }
}

static void await(ck_thread_pool *pool, size_t count) {
  for (int spin = 0; atomic_load_explicit(&pool->done, memory_order_acquire) != count; spin++) {
    if (spin < spins) {
      relax();
      continue;
    }
    atomic_store(&pool->owner_sleeps, 1);
    if (atomic_load(&pool->done) != count) futex_wait(&pool->owner_sleeps, 1);
    atomic_store(&pool->owner_sleeps, 0);
  }
}

ck_thread_pool *ck_thread_pool_shared(void) {
  static ck_thread_pool pool = {.owner = PTHREAD_MUTEX_INITIALIZER};
  return &pool;
}

int ck_thread_pool_run(ck_thread_pool *pool, const ck_job *job) {
  int stopped = 0;
  bool owns = job->threads > 1 && !is_inside && pthread_mutex_trylock(&pool->owner) == 0;
  bool was_inside = is_inside;
  is_inside = true;
  if (owns) start_workers(pool, job->threads - 1);
  double begin = job->times ? now() : 0;
  for (size_t index = 0; index < job->count; index++) {
    if (job->stop && __atomic_load_n(job->stop, __ATOMIC_RELAXED)) {
      stopped = 1;
      break;
    }
    const ck_task *task = &job->tasks[index];
    double start = job->times ? now() : 0;
    if (!owns || task->count <= task->grain || task->count >= UINT32_MAX) {
      if (task->count) task->run(task->args, 0, task->count, job->scratch);
    } else {
      publish(pool, task, job);
      work(pool, 0);
      await(pool, task->count);
    }
    if (job->times) job->times[index] = (ck_task_time){start - begin, now() - start};
  }
  is_inside = was_inside;
  if (owns) pthread_mutex_unlock(&pool->owner);
  return stopped;
}
