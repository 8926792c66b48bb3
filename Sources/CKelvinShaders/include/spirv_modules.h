#pragma once
#include <stddef.h>

/// A SPIR-V module, aligned to its words.
typedef struct KelvinShader {
  const char *_Nonnull name;
  const unsigned char *_Nonnull bytes;
  size_t count;
} KelvinShader;

/// All modules, ascending by name, and how many they are.
const KelvinShader *_Nonnull kelvin_spirv_modules(size_t *_Nonnull count);
