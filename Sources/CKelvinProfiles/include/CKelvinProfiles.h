#pragma once

#include <stddef.h>

/// How many documents of `Profiles/devices/` there are.
extern const size_t kelvin_device_profile_count;

/// The name of a document, its file's without the extension; NULL beyond the last.
const char *_Nullable kelvin_device_profile_name(size_t index);

/// The bytes of a document, valid for ever; NULL beyond the last.
const unsigned char *_Nullable kelvin_device_profile(size_t index, size_t *_Nonnull count);
