#pragma once
#include <stdbool.h>
#include <stddef.h>

// A process that accesses a mapped file after another process has truncated it, or when its disk or server fails, is
// ended by SIGBUS. While a mapping is guarded, zeros replace the rest of the mapping instead, and the guard records the
// damage. The first guard sets the process's action for SIGBUS; every other SIGBUS gets the previous action.
struct ck_guard;

/// Guards the `count` bytes of a file's mapping at `base`, which is writable or not. Returns null if there is no memory
/// left.
struct ck_guard *ck_guard_begin(const void *base, size_t count, bool is_writable);

/// Whether part of the mapping could not be read, so that it holds zeros that are not in the file.
bool ck_guard_is_damaged(const struct ck_guard *guard);

/// Ends the guard. Must be called before the mapping is removed, when nothing reads it any more.
void ck_guard_end(struct ck_guard *guard);
