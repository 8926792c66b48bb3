#include "zstd_table.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static kelvin_zstd zstd;
static char unavailable[256];

/// The first version whose streaming interface is stable.
enum { OLDEST = 10400 };

static void open_library(void) {
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    snprintf(unavailable, sizeof unavailable, "%s", why ? why : "libzstd.so.1 cannot be opened");
    return;
  }
#define KELVIN_LOAD(result, name, parameters)                                                        \
  {                                                                                                  \
    void *address = dlsym(library, "ZSTD_" #name);                                                   \
    if (!address) {                                                                                  \
      snprintf(unavailable, sizeof unavailable, "libzstd.so.1 has no function ZSTD_" #name);         \
      return;                                                                                        \
    }                                                                                                \
    memcpy(&zstd.name, &address, sizeof address);                                                    \
  }
  KELVIN_ZSTD_FUNCTIONS(KELVIN_LOAD)
#undef KELVIN_LOAD
  unsigned version = zstd.versionNumber();
  if (version < OLDEST)
    snprintf(
      unavailable, sizeof unavailable, "Zstandard 1.4 or later is needed, this is %u.%u", version / 10000,
      version / 100 % 100);
}

const kelvin_zstd *kelvin_zstd_load(const char **reason) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  *reason = unavailable[0] ? unavailable : NULL;
  return unavailable[0] ? NULL : &zstd;
}
