#pragma once
#include <stddef.h>
#include <stdint.h>

// The limits of a worker process that reads untrusted files, and the messages between it and its parent.

/// Takes from this process and all its threads the right to open files, to start processes, to use the network and to
/// make memory executable. Private memory may grow by `memory_bytes` from now on. The process keeps its descriptors.
///
/// Returns NULL, or the name of the step that failed, with `errno`. The process may then be restricted in part and
/// must end.
const char *ck_sandbox_enter(uint64_t memory_bytes);

/// A forbidden action, for the check that it is refused.
enum ck_sandbox_action {
  CK_SANDBOX_OPEN,
  CK_SANDBOX_SOCKET,
  CK_SANDBOX_EXECUTE,
  CK_SANDBOX_FORK,
  CK_SANDBOX_EXECUTABLE_MEMORY,
  CK_SANDBOX_TRACE,
  CK_SANDBOX_KILL_PARENT,
};

/// Tries a forbidden action. Returns the error number, or 0 if the action succeeded.
int ck_sandbox_try(enum ck_sandbox_action action);

/// Connects two sockets that keep the boundaries of messages. Returns 0, or -1 and `errno`.
int ck_worker_sockets(int sockets[2]);

/// Starts a program with a socket as its standard input and with no other descriptor of this process. Its output is
/// discarded. `arguments` ends with NULL. Returns 0, or an error number.
int ck_worker_spawn(const char *program, char *const arguments[], int socket, int *process);

/// Sends a message, with a descriptor unless it is -1. Returns 0, or -1 and `errno`.
int ck_worker_send(int socket, const void *bytes, size_t count, int descriptor);

/// Waits for a message. `descriptor` receives its first descriptor or -1; NULL discards all descriptors.
///
/// `seconds` below 0 waits forever. Returns the number of bytes, 0 if the other side has ended, or -1 and `errno`:
/// `ETIMEDOUT` at the end of the time, `EMSGSIZE` for a message of more than `size` bytes.
long ck_worker_receive(int socket, void *bytes, size_t size, int *descriptor, double seconds);

/// Bounds the processor time of another process to `seconds` from now on. Returns 0, or -1 and `errno`.
int ck_worker_bound_time(int process, uint64_t seconds);

/// Returns the descriptor of a new file in memory, filled with `count` bytes, or with zeros if `bytes` is NULL. Its size
/// cannot change. Returns -1 and `errno` on failure.
int ck_sealed_file(const void *bytes, size_t count);

/// Copies the path of the file that contains this code, such as a program or a library, into `path`. Returns 0, or -1
/// if it is unknown or too long.
int ck_own_path(char *path, size_t size);
