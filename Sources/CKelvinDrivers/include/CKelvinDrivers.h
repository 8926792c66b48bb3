#pragma once
#include "blas.h"
#include "content_hash.h"
#include "image_codecs.h"
#include "vulkan_table.h"
