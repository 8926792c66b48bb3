#version 450
#extension GL_GOOGLE_include_directive : require
#include "dialect.glsl"
#include "shared/lines.kernel"
#include "shared/running_sum_lines.kernel"
