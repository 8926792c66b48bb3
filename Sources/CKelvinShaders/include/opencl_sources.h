#pragma once
#include <stddef.h>

/// The text of `Shaders/opencl/<name>.cl`.
typedef struct KelvinSource {
  const char *_Nonnull name, *_Nonnull text;
} KelvinSource;

/// The text of one of them, or NULL.
const char *_Nullable kelvin_opencl_source(const char *_Nonnull name);

/// All of them, ascending by name, and how many they are.
const KelvinSource *_Nonnull kelvin_opencl_sources(size_t *_Nonnull count);
