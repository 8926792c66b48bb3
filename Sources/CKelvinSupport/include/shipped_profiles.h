#pragma once
#include <stddef.h>

/// A document of `Profiles/`, embedded in the binary.
typedef struct {
  const char *_Nonnull folder;
  const char *_Nonnull name;
  const char *_Nonnull text;
  size_t size;
} KelvinShippedProfile;

/// Returns every document, and sets `count` to their number.
const KelvinShippedProfile *_Nonnull kelvin_shipped_profiles(size_t *_Nonnull count);
