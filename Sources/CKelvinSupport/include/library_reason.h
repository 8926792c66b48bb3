#pragma once
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/// Whether a library could not be opened because it is not there, by the dynamic loader's own words: installing it helps
/// then, and nowhere else (memory that ran out, a damaged file, a library that it needs in turn).
static inline bool kelvin_library_is_absent(const char *reason) { return strstr(reason, strerror(ENOENT)) != NULL; }
