#version 450
#extension GL_GOOGLE_include_directive : require
#include "dialect.glsl"
#include "integers.glsl"

layout(constant_id = 1) const int KIND = 0;   // of the indices

#include "shared/meanings.kernel"
#include "shared/gather_codes.kernel"
