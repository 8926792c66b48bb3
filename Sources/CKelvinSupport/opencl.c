#include "opencl_table.h"
#include "room.h"

#include <dlfcn.h>

/* The memory that a driver with a compiler needs: PoCL ends the process if it is denied a thread's stack. */
static const size_t driver_room = (size_t)256 << 20;

const char *kelvin_opencl_open(const char *path, kelvin_find find, kelvin_opencl *table) {
  if (!find && !kelvin_has_room(driver_room))
    return "its drivers may need 256 MiB of addresses, more than the process may have (ulimit -v)";
  void *library = find ? 0 : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library && !find) return dlerror();
#define KELVIN_LOAD(name)                                                         \
  table->name = (__typeof__(name) *)(find ? find(#name) : dlsym(library, #name)); \
  if (!table->name) return "the library has no " #name;
  KELVIN_OPENCL_FUNCTIONS(KELVIN_LOAD)
#undef KELVIN_LOAD
  return 0;
}
