#pragma once
#include <stddef.h>

/// A document of `Profiles/`, carried in the binary so that it is there wherever the binary is.
typedef struct {
  const char *_Nonnull folder;
  const char *_Nonnull name;
  const char *_Nonnull text;
  size_t size;
} KelvinShippedProfile;

/// Every document, and how many they are.
const KelvinShippedProfile *_Nonnull kelvin_shipped_profiles(size_t *_Nonnull count);
