#define _GNU_SOURCE
#include "guarded_mapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Guards are in a list that only grows, so that the signal handler can iterate over it at any moment; a guard that has
// ended is reused. `turn` is odd while a range is written, and changes with each write. A handler trusts the range only
// if it reads the same even number before and after.
struct ck_guard {
  struct ck_guard *next;
  atomic_bool is_used;
  atomic_bool is_damaged;
  atomic_int protection;
  _Atomic uintptr_t turn, begin, end;
};

static _Atomic(struct ck_guard *) guards;
static struct sigaction former;
static uintptr_t page_size;

// Maps zeros over a guarded mapping from the page of `address` on. Several guards may have the same mapping.
static bool repair(uintptr_t address) {
  bool is_repaired = false;
  for (struct ck_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
    uintptr_t turn = atomic_load(&guard->turn), begin = atomic_load(&guard->begin), end = atomic_load(&guard->end);
    if (turn & 1 || turn != atomic_load(&guard->turn)) continue;
    if (!begin || address < begin || address >= end) continue;
    uintptr_t page = address & ~(page_size - 1);
    atomic_store(&guard->is_damaged, true);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    is_repaired |= mmap((void *)page, end - page, atomic_load(&guard->protection), flags, -1, 0) != MAP_FAILED;
  }
  return is_repaired;
}

// Takes the action for the signal that was set before the first guard.
static void pass_on(int number, siginfo_t *info, void *context) {
  if (former.sa_flags & SA_SIGINFO) {
    former.sa_sigaction(number, info, context);
  } else if (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN) {
    bool was_sent = info->si_code <= 0;
    if (was_sent && former.sa_handler == SIG_IGN) return;
    // A fault occurs again when the handler returns; a signal that was sent does not.
    signal(number, SIG_DFL);
    if (was_sent) raise(number);
  } else {
    former.sa_handler(number);
  }
}

static void handle(int number, siginfo_t *info, void *context) {
  int error = errno;
  bool is_ours = info->si_code == BUS_ADRERR && repair((uintptr_t)info->si_addr);
  errno = error;
  if (!is_ours) pass_on(number, info, context);
}

static void install(void) {
  page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &former);
}

static struct ck_guard *free_guard(void) {
  for (struct ck_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
    bool expected = false;
    if (atomic_compare_exchange_strong(&guard->is_used, &expected, true)) return guard;
  }
  struct ck_guard *guard = calloc(1, sizeof *guard);
  if (!guard) return NULL;
  atomic_store(&guard->is_used, true);
  guard->next = atomic_load(&guards);
  while (!atomic_compare_exchange_weak(&guards, &guard->next, guard)) {}
  return guard;
}

struct ck_guard *ck_guard_begin(const void *base, size_t count, bool is_writable) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  struct ck_guard *guard = free_guard();
  if (!guard) return NULL;
  atomic_store(&guard->is_damaged, false);
  atomic_store(&guard->protection, is_writable ? PROT_READ | PROT_WRITE : PROT_READ);
  atomic_fetch_add(&guard->turn, 1);
  atomic_store(&guard->end, ((uintptr_t)base + count + page_size - 1) & ~(page_size - 1));
  atomic_store(&guard->begin, (uintptr_t)base);
  atomic_fetch_add(&guard->turn, 1);
  return guard;
}

bool ck_guard_is_damaged(const struct ck_guard *guard) { return atomic_load(&guard->is_damaged); }

void ck_guard_end(struct ck_guard *guard) {
  atomic_store(&guard->begin, 0);
  atomic_store(&guard->is_used, false);
}
