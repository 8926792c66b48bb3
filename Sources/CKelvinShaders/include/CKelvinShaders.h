#pragma once
#include "spirv_modules.h"
