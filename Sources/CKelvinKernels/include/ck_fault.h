#pragma once
#include <stddef.h>
#include <stdint.h>

/* What the tasks of a job found wrong with their data; the first to find something writes it. All zero before a job,
 * and read when the job is done. */
typedef struct {
  uint32_t is_set;
  /* The node that the task belongs to, as the one who made the task numbers them. */
  uint32_t node;
  /* An index outside an axis of `length` elements. */
  int64_t index;
  size_t length;
} ck_fault;
