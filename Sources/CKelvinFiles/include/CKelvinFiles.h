#pragma once
#include "guarded_mapping.h"
