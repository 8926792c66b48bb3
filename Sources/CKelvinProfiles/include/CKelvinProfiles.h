#pragma once
#include "shipped_profiles.h"
