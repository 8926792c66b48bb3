#include "mutex_for_tsan.h"

/* Synchronization.Mutex takes its lock in the caller's code, which ThreadSanitizer sees, unless another thread holds
   it: then the Swift library, which is not instrumented, waits for it, and every contended lock is reported as a race.
   This definition comes before the library's in symbol lookup; it waits in instrumented code. */
#if __has_feature(thread_sanitizer)
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *owner)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *owner) {
  uint32_t nobody = 0;
  while (!atomic_compare_exchange_weak_explicit(owner, &nobody, thread, memory_order_acquire, memory_order_relaxed)) {
    nobody = 0;
    sched_yield();
  }
}
#endif
