#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Whether anything is counted: not where a sanitizer brings its own allocator. */
bool allocation_counter_counts(void);

/* Counts the calling thread's allocations between the two calls. */
void allocation_counter_start(void);
size_t allocation_counter_stop(void);
