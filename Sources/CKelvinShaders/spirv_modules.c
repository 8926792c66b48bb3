#include "spirv_modules.h"

#include <stdalign.h>

#include "spirv_modules.inc"

const KelvinShader *kelvin_spirv_modules(size_t *count) {
  *count = sizeof modules / sizeof *modules;
  return modules;
}
