#pragma once
#include <stdbool.h>

/// Finds the functions for untrusted databases in an open SQLite, and registers `KELVIN_SQLITE_SYSTEM`. Returns false
/// if the library lacks one of them.
bool kelvin_untrusted_sqlite_prepare(void *library);
