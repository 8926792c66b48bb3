#include "opencl_sources.h"

#include <string.h>

typedef KelvinSource source;
#include "opencl_sources.inc"

const char *kelvin_opencl_source(const char *name) {
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    if (strcmp(sources[i].name, name) == 0) return sources[i].text;
  return NULL;
}

const KelvinSource *kelvin_opencl_sources(size_t *count) {
  *count = sizeof sources / sizeof *sources;
  return sources;
}
