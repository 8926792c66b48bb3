#include "opencl_sources.h"

#include <stddef.h>
#include <string.h>

#define KELVIN_SOURCE(name) static const char name[]

KELVIN_SOURCE(prelude) = {
#embed "../../Shaders/opencl/prelude.cl" suffix(, 0)
};
KELVIN_SOURCE(batch_normalization) = {
#embed "../../Shaders/opencl/batch_normalization.cl" suffix(, 0)
};
KELVIN_SOURCE(binary) = {
#embed "../../Shaders/opencl/binary.cl" suffix(, 0)
};
KELVIN_SOURCE(blocked) = {
#embed "../../Shaders/opencl/blocked.cl" suffix(, 0)
};
KELVIN_SOURCE(cast) = {
#embed "../../Shaders/opencl/cast.cl" suffix(, 0)
};
KELVIN_SOURCE(convolution) = {
#embed "../../Shaders/opencl/convolution.cl" suffix(, 0)
};
KELVIN_SOURCE(copy) = {
#embed "../../Shaders/opencl/copy.cl" suffix(, 0)
};
KELVIN_SOURCE(depthwise) = {
#embed "../../Shaders/opencl/depthwise.cl" suffix(, 0)
};
KELVIN_SOURCE(gather) = {
#embed "../../Shaders/opencl/gather.cl" suffix(, 0)
};
KELVIN_SOURCE(half_precision) = {
#embed "../../Shaders/opencl/half.cl" suffix(, 0)
};
KELVIN_SOURCE(matmul) = {
#embed "../../Shaders/opencl/matmul.cl" suffix(, 0)
};
KELVIN_SOURCE(pad) = {
#embed "../../Shaders/opencl/pad.cl" suffix(, 0)
};
KELVIN_SOURCE(pool) = {
#embed "../../Shaders/opencl/pool.cl" suffix(, 0)
};
KELVIN_SOURCE(reduce) = {
#embed "../../Shaders/opencl/reduce.cl" suffix(, 0)
};
KELVIN_SOURCE(softmax) = {
#embed "../../Shaders/opencl/softmax.cl" suffix(, 0)
};
KELVIN_SOURCE(unary) = {
#embed "../../Shaders/opencl/unary.cl" suffix(, 0)
};

static const struct {
  const char *name, *text;
} sources[] = {
    {"batch_normalization", batch_normalization},
    {"binary", binary},
    {"blocked", blocked},
    {"cast", cast},
    {"convolution", convolution},
    {"copy", copy},
    {"depthwise", depthwise},
    {"gather", gather},
    {"half", half_precision},
    {"matmul", matmul},
    {"pad", pad},
    {"pool", pool},
    {"prelude", prelude},
    {"reduce", reduce},
    {"softmax", softmax},
    {"unary", unary},
};

const char *kelvin_opencl_source(const char *name) {
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    if (strcmp(sources[i].name, name) == 0) return sources[i].text;
  return NULL;
}
