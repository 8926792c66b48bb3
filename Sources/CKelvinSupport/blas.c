#define _GNU_SOURCE
#include "blas.h"
#include "room.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char version[32] = "of unknown version";
static kd_blas blas = {.version = version};
static int is_loaded;

/* Opens the library on a thread that is bound to one processor. While it is opened, the library starts a worker for
 * each further processor that the opening thread may use, before the number of threads can be set. These workers
 * would spin, and a process whose system denies them threads hangs. An environment variable could limit them too,
 * but other threads may be reading the environment. */
static void *open_for_one_thread(void) {
  cpu_set_t before, one;
  int is_bound = 0;
  if (pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0) {
    int processor = sched_getcpu();
    if (processor >= 0 && processor < CPU_SETSIZE && CPU_ISSET(processor, &before)) {
      CPU_ZERO(&one);
      CPU_SET(processor, &one);
      is_bound = pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
    }
  }
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (is_bound) pthread_setaffinity_np(pthread_self(), sizeof before, &before);
  return library;
}

/* The library takes a buffer of 128 MiB of addresses when it is opened, and one for each thread that multiplies at
 * the same time. If it is denied a buffer, it retries forever. */
static int has_room(void) {
  size_t buffer = (size_t)128 << 20, library = (size_t)64 << 20;
  return kelvin_has_room((size_t)(sysconf(_SC_NPROCESSORS_ONLN) + 1) * buffer + library);
}

static void load(void) {
  if (!has_room()) return;
  void *library = open_for_one_thread();
  if (!library) return;
  const char *(*config)(void) = (const char *(*)(void))dlsym(library, "openblas_get_config");
  void (*set_threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
  *(void **)&blas.sgemm = dlsym(library, "cblas_sgemm");
  if (!config || !set_threads || !blas.sgemm) {
    dlclose(library);
    return;
  }
  set_threads(1);
  sscanf(config(), "OpenBLAS %31s", version);
  is_loaded = 1;
}

const kd_blas *kd_blas_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_loaded ? &blas : 0;
}
