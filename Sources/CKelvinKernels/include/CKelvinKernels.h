#pragma once
#include "ck_kernels.h"
#include "ck_integer.h"
#include "ck_pool.h"
