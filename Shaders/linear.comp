#version 450
#extension GL_GOOGLE_include_directive : require
#include "dialect.glsl"
#include "shared/meanings.kernel"
#include "shared/linear.kernel"
