#pragma once
#include "opencl_sources.h"
#include "spirv_modules.h"
