#pragma once
#include <stddef.h>
#include <stdint.h>

/* The first fault that a task of a job found in its data. All zero before a job, and read when the job is done. */
typedef struct {
  uint32_t is_set;
  /* The node that the task belongs to, by the number that the creator of the task gave it. */
  uint32_t node;
  /* An index outside an axis of `length` elements. */
  int64_t index;
  size_t length;
} ck_fault;
