#pragma once
#include "image_codecs.h"
