#pragma once
#include <stddef.h>

/* Counts the calling thread's allocations between the two calls. */
void allocation_counter_start(void);
size_t allocation_counter_stop(void);
