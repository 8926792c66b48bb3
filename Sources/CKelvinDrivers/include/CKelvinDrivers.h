#pragma once
#include "image_codecs.h"
#include "content_hash.h"
#include "opencl_table.h"
