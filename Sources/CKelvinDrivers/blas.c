#include "blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static char version[32] = "of unknown version";
static kd_blas blas = {.version = version};
static int is_loaded;

static void load(void) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
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
