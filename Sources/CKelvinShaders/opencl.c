#include "opencl_sources.h"

#include <stddef.h>
#include <string.h>

#define KELVIN_SOURCE(name) static const char name[]

KELVIN_SOURCE(prelude) = {
#embed "../../Shaders/opencl/prelude.cl" suffix(, )
#embed "../../Shaders/opencl/Generated/functions.cl" suffix(, 0)
};
KELVIN_SOURCE(arg_reduce) = {
#embed "../../Shaders/opencl/arg_reduce.cl" suffix(, 0)
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
KELVIN_SOURCE(compare) = {
#embed "../../Shaders/opencl/compare.cl" suffix(, 0)
};
KELVIN_SOURCE(convolution) = {
#embed "../../Shaders/opencl/convolution.cl" suffix(, 0)
};
KELVIN_SOURCE(convolution_transpose) = {
#embed "../../Shaders/opencl/convolution_transpose.cl" suffix(, 0)
};
KELVIN_SOURCE(copy) = {
#embed "../../Shaders/opencl/copy.cl" suffix(, 0)
};
KELVIN_SOURCE(cumulative_sum) = {
#embed "../../Shaders/opencl/cumulative_sum.cl" suffix(, 0)
};
KELVIN_SOURCE(depthwise) = {
#embed "../../Shaders/opencl/depthwise.cl" suffix(, 0)
};
KELVIN_SOURCE(gather) = {
#embed "../../Shaders/opencl/gather.cl" suffix(, 0)
};
KELVIN_SOURCE(gather_elements) = {
#embed "../../Shaders/opencl/gather_elements.cl" suffix(, 0)
};
KELVIN_SOURCE(gather_nd) = {
#embed "../../Shaders/opencl/gather_nd.cl" suffix(, 0)
};
KELVIN_SOURCE(half_precision) = {
#embed "../../Shaders/opencl/half.cl" suffix(, 0)
};
KELVIN_SOURCE(integer) = {
#embed "../../Shaders/opencl/integer.cl" suffix(, 0)
};
KELVIN_SOURCE(layer_normalization) = {
#embed "../../Shaders/opencl/layer_normalization.cl" suffix(, 0)
};
KELVIN_SOURCE(local_response_normalization) = {
#embed "../../Shaders/opencl/local_response_normalization.cl" suffix(, 0)
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
KELVIN_SOURCE(quantize) = {
#embed "../../Shaders/opencl/quantize.cl" suffix(, 0)
};
KELVIN_SOURCE(reduce) = {
#embed "../../Shaders/opencl/reduce.cl" suffix(, 0)
};
KELVIN_SOURCE(resize) = {
#embed "../../Shaders/opencl/resize.cl" suffix(, 0)
};
KELVIN_SOURCE(selection) = {
#embed "../../Shaders/opencl/select.cl" suffix(, 0)
};
KELVIN_SOURCE(softmax) = {
#embed "../../Shaders/opencl/softmax.cl" suffix(, 0)
};
KELVIN_SOURCE(unary) = {
#embed "../../Shaders/opencl/unary.cl" suffix(, 0)
};
KELVIN_SOURCE(walk) = {
#embed "../../Shaders/opencl/walk.cl" suffix(, 0)
};

static const struct {
  const char *name, *text;
} sources[] = {
    {"arg_reduce", arg_reduce},
    {"batch_normalization", batch_normalization},
    {"binary", binary},
    {"blocked", blocked},
    {"cast", cast},
    {"compare", compare},
    {"convolution", convolution},
    {"convolution_transpose", convolution_transpose},
    {"copy", copy},
    {"cumulative_sum", cumulative_sum},
    {"depthwise", depthwise},
    {"gather", gather},
    {"gather_elements", gather_elements},
    {"gather_nd", gather_nd},
    {"half", half_precision},
    {"integer", integer},
    {"layer_normalization", layer_normalization},
    {"local_response_normalization", local_response_normalization},
    {"matmul", matmul},
    {"pad", pad},
    {"pool", pool},
    {"prelude", prelude},
    {"quantize", quantize},
    {"reduce", reduce},
    {"resize", resize},
    {"select", selection},
    {"softmax", softmax},
    {"unary", unary},
    {"walk", walk},
};

const char *kelvin_opencl_source(const char *name) {
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    if (strcmp(sources[i].name, name) == 0) return sources[i].text;
  return NULL;
}
