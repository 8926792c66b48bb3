#pragma once
#include "blas.h"
#include "image_codecs.h"
#include "content_hash.h"
#include "image_codecs.h"
#include "nvml_table.h"
#include "opencl_table.h"
#include "vulkan_table.h"
