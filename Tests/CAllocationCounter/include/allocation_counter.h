#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Whether allocations are counted; they are not if a sanitizer replaces the allocator. */
bool allocation_counter_counts(void);

/* Counts the allocations of all threads between the two calls: the process should be the counting test's own. */
void allocation_counter_start(void);
size_t allocation_counter_stop(void);
