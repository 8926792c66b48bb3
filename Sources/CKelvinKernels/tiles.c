#include "tile_band.h"
#include <stdatomic.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

extern const ck_tile_kernels ck_tile_kernels__tiles;
#if defined(__x86_64__)
extern const ck_tile_kernels ck_tile_kernels__amx;
#endif

const ck_tile_kernels *ck_tiles(bool emulated) {
  if (emulated) return &ck_tile_kernels__tiles;
#if defined(__x86_64__)
  return &ck_tile_kernels__amx;
#else
  return NULL;
#endif
}

size_t ck_tile_band_words(const ck_window *w, bool copies, size_t groups, size_t count) {
  tile_band band = tile_band_of(w, copies, count);
  /* The last tile of pixels may read beyond the last plane. */
  return (tile_band_pixels(&band) * groups + ck_tile_rows) * ck_tile_words;
}

#if defined(__x86_64__)
/* Whether the processor has AMX for bfloat16 and 8-bit integers, and the operating system saves tiles. */
static bool has_unit(void) {
  enum { bfloat16 = 1 << 22, tile = 1 << 24, int8 = 1 << 25, wanted = bfloat16 | tile | int8, xsave = 1 << 27 };
  unsigned a, b, c, d;
  if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vnni")) return false;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")) return false;
  if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) return false;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & xsave)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & wanted) != wanted) return false;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  enum { tile_states = 3 << 17 };
  return (low & tile_states) == tile_states;
}

/* Asks for the state of tile data and, because a sandbox may answer any call with success, reads the answer back. */
static bool request(void) {
  enum { get_permission = 0x1022, request_permission = 0x1023, tile_data = 18 };
  unsigned long permitted = 0;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0 &&
    syscall(SYS_arch_prctl, get_permission, &permitted) == 0 && permitted >> tile_data & 1;
}
#endif

ck_tile_support ck_request_tiles(void) {
#if defined(__x86_64__)
  /* Threads that ask at the same time get the same answer. One more than the answer; 0 is unknown. */
  static _Atomic int known;
  int answer = atomic_load(&known);
  if (!answer) {
    answer = 1 + (!has_unit() ? ck_tiles_absent : request() ? ck_tiles_usable : ck_tiles_refused);
    atomic_store(&known, answer);
  }
  return (ck_tile_support)(answer - 1);
#else
  return ck_tiles_absent;
#endif
}
