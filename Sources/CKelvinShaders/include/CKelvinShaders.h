#pragma once
#include "opencl_sources.h"
