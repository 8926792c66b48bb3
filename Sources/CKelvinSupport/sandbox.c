#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define OWN_ARCHITECTURE 0
#endif

#ifndef __NR_clone3
#define __NR_clone3 435
#endif

enum { MAXIMUM_INSTRUCTIONS = 256, MAXIMUM_DESCRIPTORS = 1024 };

// System calls that are allowed with any arguments.
static const int allowed[] = {
  __NR_read, __NR_readv, __NR_pread64, __NR_write, __NR_writev, __NR_close, __NR_lseek, __NR_fstat, __NR_getdents64,
  __NR_recvmsg, __NR_sendmsg, __NR_ppoll, __NR_munmap, __NR_mremap, __NR_madvise, __NR_brk, __NR_futex,
  __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_nanosleep, __NR_gettimeofday, __NR_getrandom,
  __NR_getpid, __NR_gettid, __NR_sched_yield, __NR_sched_getaffinity, __NR_getcpu, __NR_sysinfo, __NR_rt_sigaction,
  __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack, __NR_restart_syscall, __NR_set_robust_list, __NR_exit,
  __NR_exit_group,
#ifdef __NR_rseq
  __NR_rseq,
#endif
#ifdef __NR_poll
  __NR_poll,
#endif
#ifdef __NR_time
  __NR_time,
#endif
};

struct filter {
  struct sock_filter code[MAXIMUM_INSTRUCTIONS];
  unsigned short count;
  bool overflows;
};

static void add(struct filter *filter, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
  if (filter->count == MAXIMUM_INSTRUCTIONS) {
    filter->overflows = true;
    return;
  }
  filter->code[filter->count++] = (struct sock_filter){code, if_true, if_false, value};
}

static void answer(struct filter *filter, uint32_t action) { add(filter, BPF_RET | BPF_K, action, 0, 0); }

// Both architectures are little-endian: the low word of an argument comes first.
static void load(struct filter *filter, size_t offset) { add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }

static void load_argument(struct filter *filter, int index) {
  load(filter, offsetof(struct seccomp_data, args) + 8 * (size_t)index);
}

// Skips `count` instructions unless the loaded word is `value`.
static void unless_equal_skip(struct filter *filter, uint32_t value, uint8_t count) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, count);
}

// Allows a call if `argument & mask` is `value`, and refuses it otherwise.
static void allow_if(struct filter *filter, int call, int argument, uint32_t mask, uint32_t value) {
  unless_equal_skip(filter, (uint32_t)call, 5);
  load_argument(filter, argument);
  add(filter, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
  unless_equal_skip(filter, value, 1);
  answer(filter, SECCOMP_RET_ALLOW);
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

// Refuses a call if `argument & mask` is `value`; otherwise the following rules apply.
static void refuse_if(struct filter *filter, int call, int argument, uint32_t mask, uint32_t value) {
  unless_equal_skip(filter, (uint32_t)call, 5);
  load_argument(filter, argument);
  add(filter, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
  unless_equal_skip(filter, value, 1);
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
  load(filter, offsetof(struct seccomp_data, nr));
}

// Allows `fcntl` for the commands that read or duplicate a descriptor. The others can send signals to processes.
static void allow_descriptor_commands(struct filter *filter) {
  static const uint32_t commands[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC};
  const uint8_t count = sizeof commands / sizeof commands[0];
  unless_equal_skip(filter, __NR_fcntl, (uint8_t)(2 + 2 * count));
  load_argument(filter, 1);
  for (uint8_t i = 0; i < count; i++) {
    unless_equal_skip(filter, commands[i], 1);
    answer(filter, SECCOMP_RET_ALLOW);
  }
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

// Allows `prlimit64` to read the limits of this process.
static void allow_reading_limits(struct filter *filter) {
  unless_equal_skip(filter, __NR_prlimit64, 8);
  load_argument(filter, 0);
  unless_equal_skip(filter, 0, 5);
  load_argument(filter, 2);
  unless_equal_skip(filter, 0, 3);
  load(filter, offsetof(struct seccomp_data, args) + 8 * 2 + 4);
  unless_equal_skip(filter, 0, 1);
  answer(filter, SECCOMP_RET_ALLOW);
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

static void build(struct filter *filter) {
  load(filter, offsetof(struct seccomp_data, arch));
  unless_equal_skip(filter, OWN_ARCHITECTURE, 1);
  add(filter, BPF_JMP | BPF_JA, 1, 0, 0);
  answer(filter, SECCOMP_RET_KILL_PROCESS);
  load(filter, offsetof(struct seccomp_data, nr));
  // Calls of x32 have numbers above all others, and no rule allows them.
  for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
    unless_equal_skip(filter, (uint32_t)allowed[i], 1);
    answer(filter, SECCOMP_RET_ALLOW);
  }
  refuse_if(filter, __NR_mmap, 3, MAP_ANONYMOUS | MAP_SHARED | MAP_PRIVATE, MAP_ANONYMOUS | MAP_SHARED);
  refuse_if(filter, __NR_mmap, 3, MAP_ANONYMOUS | 0xf, MAP_ANONYMOUS | MAP_SHARED_VALIDATE);
  allow_if(filter, __NR_mmap, 2, PROT_EXEC, 0);
  allow_if(filter, __NR_mprotect, 2, PROT_EXEC, 0);
  allow_if(filter, __NR_newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH);
  allow_if(filter, __NR_clone, 0, CLONE_THREAD, CLONE_THREAD);
  allow_if(filter, __NR_prctl, 0, UINT32_MAX, PR_SET_NAME);
  allow_if(filter, __NR_tgkill, 0, UINT32_MAX, (uint32_t)getpid());
  allow_descriptor_commands(filter);
  allow_reading_limits(filter);
  // The C library then starts threads by `clone`, whose flags can be checked.
  unless_equal_skip(filter, __NR_clone3, 1);
  answer(filter, SECCOMP_RET_ERRNO | ENOSYS);
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

// Lowers a limit to `value`. A lower limit of the system stays.
static bool bound(int resource, rlim_t value) {
  struct rlimit limit;
  if (getrlimit((__rlimit_resource_t)resource, &limit)) return false;
  if (value > limit.rlim_max) value = limit.rlim_max;
  limit = (struct rlimit){value, value};
  return !setrlimit((__rlimit_resource_t)resource, &limit);
}

// The bytes of private writable memory that the process has, including its stack; 0 if unknown.
static uint64_t data_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "re");
  unsigned long long pages = 0;
  if (!file) return 0;
  if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

const char *ck_sandbox_enter(uint64_t memory_bytes) {
  uint64_t data = data_bytes();
  if (!data) return "/proc/self/statm";
  if (!bound(RLIMIT_CORE, 0) || !bound(RLIMIT_FSIZE, 0) || !bound(RLIMIT_NOFILE, MAXIMUM_DESCRIPTORS)
      || !bound(RLIMIT_DATA, data + memory_bytes))
    return "setrlimit";
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) return "PR_SET_DUMPABLE";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return "PR_SET_NO_NEW_PRIVS";
  struct filter filter = {0};
  build(&filter);
  errno = OWN_ARCHITECTURE ? E2BIG : ENOSYS;
  if (!OWN_ARCHITECTURE || filter.overflows) return "seccomp";
  struct sock_fprog program = {filter.count, filter.code};
  if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) return "seccomp";
  return NULL;
}

static int try_fork(void) {
  long child = syscall(__NR_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (!child) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return child < 0 ? -1 : 0;
}

static int try_executable_memory(void) {
  return mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

int ck_sandbox_try(enum ck_sandbox_action action) {
  char *const none[] = {NULL};
  int result = 0;
  switch (action) {
  case CK_SANDBOX_OPEN: result = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); break;
  case CK_SANDBOX_SOCKET: result = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); break;
  case CK_SANDBOX_EXECUTE: result = execve("/bin/true", none, none); break;
  case CK_SANDBOX_FORK: result = try_fork(); break;
  case CK_SANDBOX_EXECUTABLE_MEMORY: result = try_executable_memory(); break;
  case CK_SANDBOX_TRACE: result = (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL); break;
  case CK_SANDBOX_KILL_PARENT: result = kill(getppid(), 0); break;
  }
  return result < 0 ? errno : 0;
}
