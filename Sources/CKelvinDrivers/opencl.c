#include "opencl_table.h"

#include <dlfcn.h>

const char *kelvin_opencl_open(const char *path, kelvin_find find, kelvin_opencl *table) {
  void *library = find ? 0 : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library && !find) return dlerror();
#define KELVIN_LOAD(name)                                                         \
  table->name = (__typeof__(name) *)(find ? find(#name) : dlsym(library, #name)); \
  if (!table->name) return "the library has no " #name;
  KELVIN_OPENCL_FUNCTIONS(KELVIN_LOAD)
#undef KELVIN_LOAD
  return 0;
}
