/* Whether the process may allocate this many more bytes of addresses (ulimit -v, -d). Libraries that are denied
 * memory end the process or retry forever, so they are not opened if a limit could deny it. */
#pragma once
#include <stddef.h>
#include <sys/mman.h>

static inline int kelvin_has_room(size_t size) {
  void *room = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return 0;
  munmap(room, size);
  return 1;
}
