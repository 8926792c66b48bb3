#pragma once

/// The text of `Shaders/opencl/<name>.cl`, or NULL.
const char *_Nullable kelvin_opencl_source(const char *_Nonnull name);
