#pragma once
#include "ck_cumulative_sum.h"
#include "ck_elements.h"
#include "ck_fault.h"
#include "ck_indexing.h"
#include "ck_kernels.h"
#include "ck_pool.h"
#include "ck_quantized.h"
