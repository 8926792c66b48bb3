#pragma once
<<<<<<< HEAD
#include "spirv_modules.h"
=======
#include "opencl_sources.h"
>>>>>>> opencl
