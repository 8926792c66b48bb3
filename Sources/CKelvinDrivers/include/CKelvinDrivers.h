#pragma once
#include "blas.h"
#include "image_codecs.h"
#include "content_hash.h"
