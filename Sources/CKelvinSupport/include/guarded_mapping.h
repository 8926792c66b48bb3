#pragma once
#include <stdbool.h>
#include <stddef.h>

// A mapped file that another process cuts short, or that its disk or server no longer gives, ends a process that touches
// what is gone with SIGBUS. While a mapping is guarded, zeros take the place of the rest of it instead, and the guard
// remembers. The first guard sets the process's action for SIGBUS; every other SIGBUS goes to the action before it.
struct ck_guard;

/// Guards the `count` bytes that a mapping of a file has at `base`. Returns null where there is no memory left.
struct ck_guard *ck_guard_begin(const void *base, size_t count);

/// Whether something of the mapping could not be read, so that it holds zeros which the file never held.
bool ck_guard_is_damaged(const struct ck_guard *guard);

/// Ends the guard; before the mapping goes away, when nobody reads it any more.
void ck_guard_end(struct ck_guard *guard);
