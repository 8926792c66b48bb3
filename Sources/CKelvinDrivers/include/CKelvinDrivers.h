#pragma once
#include "opencl_table.h"
