#pragma once
#include "vulkan_table.h"
