/* Whether the process may have so many more bytes of addresses (ulimit -v, -d). Libraries that are denied some end the
 * process or try again for ever, and so are not opened where a limit might. */
#pragma once
#include <stddef.h>
#include <sys/mman.h>

static inline int kelvin_has_room(size_t size) {
  void *room = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return 0;
  munmap(room, size);
  return 1;
}
