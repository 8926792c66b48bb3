#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Requests over HTTP, HTTPS and of local files, by libcurl, which is opened at run time: building needs no headers, and
/// a machine without the library gets an error instead of a failure to start.

/// The outcome of a request.
typedef enum {
  KELVIN_TRANSFER_DONE,
  /// A callback ended the request.
  KELVIN_TRANSFER_ENDED,
  /// The server or the proxy cannot be found or reached.
  KELVIN_TRANSFER_UNREACHABLE,
  /// The server did not answer, or sent nothing for the longest permitted time.
  KELVIN_TRANSFER_SILENT,
  /// The connection ended before the answer was complete.
  KELVIN_TRANSFER_BROKEN,
  /// The encrypted connection cannot be established, or the certificate is not trusted.
  KELVIN_TRANSFER_UNTRUSTED,
  /// A local file cannot be read.
  KELVIN_TRANSFER_UNREADABLE,
  /// The URL is invalid, or its protocol is not supported.
  KELVIN_TRANSFER_INVALID,
  KELVIN_TRANSFER_FAILED,
} kelvin_transfer_outcome;

typedef struct {
  const char *_Nonnull url;
  /// The value of the header User-Agent.
  const char *_Nonnull agent;
  /// Lines such as "If-Range: \"1\"", and their number.
  const char *_Nonnull const *_Nullable headers;
  size_t header_count;
  /// A file of trusted certificates; null for those of the system.
  const char *_Nullable certificates;
  /// The longest time for the connection, and the longest time without a byte, in seconds.
  long connect_seconds, silent_seconds;
  /// The first argument of the callbacks, which are called on the thread of the request. If one returns false, the
  /// request ends.
  void *_Nullable context;
  /// Receives each line of each answer's header, with its line end.
  bool (*_Nonnull header)(void *_Nullable context, const char *_Nonnull line, size_t count);
  /// Receives the bytes of the answer. `response` is the status of HTTP, or 0 for a local file.
  bool (*_Nonnull body)(void *_Nullable context, long response, const void *_Nonnull bytes, size_t count);
  /// Is called several times each second.
  bool (*_Nonnull continues)(void *_Nullable context);
} kelvin_transfer_request;

typedef struct {
  kelvin_transfer_outcome outcome;
  /// The status of HTTP; 0 for a local file, or without an answer.
  long response;
  /// The reason of a failure.
  char message[256];
  /// The absolute URL that a redirection names; empty without one, or for a longer URL.
  char redirection[4096];
} kelvin_transfer_result;

/// Makes a GET request, and follows no redirection.
///
/// Returns false if libcurl cannot be used; `reason` then has the cause.
bool kelvin_transfer(
  const kelvin_transfer_request *_Nonnull request, kelvin_transfer_result *_Nonnull result,
  const char *_Nullable *_Nonnull reason);
