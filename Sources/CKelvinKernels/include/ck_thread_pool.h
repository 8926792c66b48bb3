#pragma once
#include <stddef.h>
#include <stdint.h>

/* One step of an invocation: `count` independent items. */
typedef struct {
  /* Computes items `begin` to `end`. `scratch` belongs to the executing thread until the call returns. */
  void (*run)(const void *args, size_t begin, size_t end, void *scratch);
  const void *args;
  size_t count;
  /* The number of items that a thread claims at a time; at least 1. */
  size_t grain;
} ck_task;

/* The time of a task, in seconds since `ck_thread_pool_run` was called. */
typedef struct {
  double start;
  double seconds;
} ck_task_time;

typedef struct {
  const ck_task *tasks;
  size_t count;
  /* The largest number of threads that may work at a time, including the caller. */
  size_t threads;
  /* `threads` regions of `scratch_stride` bytes, one for each thread. */
  void *scratch;
  size_t scratch_stride;
  /* One entry for each task, or null. */
  ck_task_time *times;
  /* A word that another thread sets so that no further task begins, or null. */
  const uint32_t *stop;
} ck_job;

typedef struct ck_thread_pool ck_thread_pool;

/* The pool of the process. Its threads start when a job first asks for them and are never joined. */
ck_thread_pool *ck_thread_pool_shared(void);

/* Runs the tasks one after the other, the items of each in parallel, and returns when all are done.
 *
 * The calling thread works too. A thread that the system does not schedule delays only the items that it has claimed.
 * While the pool runs another job, or from within a task, the whole job runs on the calling thread.
 *
 * Returns 0, or 1 if `stop` was set before the last task began: the results are then incomplete. */
int ck_thread_pool_run(ck_thread_pool *pool, const ck_job *job);
