#pragma once
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/// Whether a library could not be opened because it is not installed, according to the dynamic loader's message.
/// Installing the library helps only then, not if memory ran out, a file is damaged or a dependency is missing.
static inline bool kelvin_library_is_absent(const char *reason) { return strstr(reason, strerror(ENOENT)) != NULL; }
