#include "nvml_table.h"

#include <dlfcn.h>
#include <stddef.h>

const char *kelvin_nvml_load(kelvin_nvml *table, void *(*find)(void *context, const char *name), void *context) {
#define KELVIN_LOAD(name, parameters) \
  *(void **)&table->name = find(context, #name); \
  if (table->name == NULL) return "the library has no " #name;
  KELVIN_NVML_REQUIRED(KELVIN_LOAD)
#undef KELVIN_LOAD
#define KELVIN_LOAD(name, parameters) *(void **)&table->name = find(context, #name);
  KELVIN_NVML_OPTIONAL(KELVIN_LOAD)
#undef KELVIN_LOAD
  *(void **)&table->nvmlErrorString = find(context, "nvmlErrorString");
  return NULL;
}

static void *find_in_library(void *library, const char *name) { return dlsym(library, name); }

const char *kelvin_nvml_open(const char *path, kelvin_nvml *table, int *is_absent) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  *is_absent = library == NULL;
  if (library == NULL) return dlerror();
  return kelvin_nvml_load(table, find_in_library, library);
}
