#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sandbox.h"

int ck_worker_sockets(int sockets[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets); }

// The worker takes signals as usual, whatever this process does with them. It has a process group of its own, because
// an interrupt from the terminal is the parent's to handle.
static void set_attributes(posix_spawnattr_t *attributes) {
  sigset_t signals;
  posix_spawnattr_init(attributes);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(attributes, &signals);
  posix_spawnattr_setpgroup(attributes, 0);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int ck_worker_spawn(const char *program, char *const arguments[], int socket, int *process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  set_attributes(&attributes);
  posix_spawn_file_actions_init(&actions);
  int code = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  if (!code) code = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (!code) code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (!code) code = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  pid_t child = 0;
  if (!code) code = posix_spawn(&child, program, &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  *process = child;
  return code;
}

int ck_worker_send(int socket, const void *bytes, size_t count, int descriptor) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {0};
  struct iovec part = {(void *)bytes, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){CMSG_LEN(sizeof descriptor), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t sent;
  // Each side waits for an answer before its next message, so the socket has room unless the other side is hostile.
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)count ? 0 : -1;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Waits until a message can be read. Returns false at the end of the time, or for an error.
static bool wait_until_readable(int socket, double seconds) {
  double end = now() + seconds;
  for (;;) {
    double left = end - now();
    int milliseconds = seconds < 0 || left > 1e6 ? 1000000 : left <= 0 ? 0 : (int)(left * 1000) + 1;
    struct pollfd entry = {socket, POLLIN, 0};
    int ready = poll(&entry, 1, milliseconds);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (seconds >= 0 && now() >= end) {
      errno = ETIMEDOUT;
      return false;
    }
  }
}

// Keeps the first descriptor of a message and closes the others. The room for one descriptor may fit two.
static int first_descriptor(struct msghdr *message) {
  int first = -1;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
      if (first < 0) first = descriptor;
      else close(descriptor);
    }
  }
  return first;
}

long ck_worker_receive(int socket, void *bytes, size_t size, int *descriptor, double seconds) {
  if (descriptor) *descriptor = -1;
  if (!wait_until_readable(socket, seconds)) return -1;
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {bytes, size};
  // Without room for descriptors, the system discards them.
  struct msghdr message = {
    .msg_iov = &part,
    .msg_iovlen = 1,
    .msg_control = descriptor ? control : NULL,
    .msg_controllen = descriptor ? sizeof control : 0,
  };
  ssize_t count;
  do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -1;
  if (descriptor) *descriptor = first_descriptor(&message);
  if (message.msg_flags & MSG_TRUNC) {
    if (descriptor && *descriptor >= 0) close(*descriptor);
    errno = EMSGSIZE;
    return -1;
  }
  return count;
}

int ck_worker_bound_time(int process, uint64_t seconds) {
  clockid_t clock;
  struct timespec used;
  int code = clock_getcpuclockid(process, &clock);
  if (code) {
    errno = code;
    return -1;
  }
  if (clock_gettime(clock, &used)) return -1;
  struct rlimit bounds;
  if (prlimit(process, RLIMIT_CPU, NULL, &bounds)) return -1;
  rlim_t limit = (rlim_t)used.tv_sec + 1 + seconds;
  bounds.rlim_cur = limit < bounds.rlim_max ? limit : bounds.rlim_max;
  return prlimit(process, RLIMIT_CPU, &bounds, NULL);
}

static bool fill(int file, const uint8_t *bytes, size_t count) {
  while (count) {
    ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

int ck_sealed_file(const void *bytes, size_t count) {
  int file = memfd_create("kelvin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  bool filled = bytes ? fill(file, bytes, count) : !ftruncate(file, (off_t)count);
  if (filled && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) return file;
  int code = errno;
  close(file);
  errno = code;
  return -1;
}

int ck_own_path(char *path, size_t size) {
  Dl_info info;
  char resolved[4096];
  if (!dladdr((void *)ck_own_path, &info) || !info.dli_fname || !realpath(info.dli_fname, resolved)) return -1;
  size_t length = strlen(resolved);
  if (length >= size) return -1;
  memcpy(path, resolved, length + 1);
  return 0;
}
