#include "CKelvinTransfer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/// The part of libcurl's stable interface that Kelvin uses. Options are numbers whose ten thousands are the type of the
/// value: long, pointer, function, 64-bit offset.
typedef struct curl curl;
typedef struct curl_list curl_list;

enum {
  OPTION_CONNECT_SECONDS = 78,
  OPTION_FOLLOWS = 52,
  OPTION_NO_PROGRESS = 43,
  OPTION_NO_SIGNAL = 99,
  OPTION_PROTOCOLS = 181,
  OPTION_SILENT_RATE = 19,
  OPTION_SILENT_SECONDS = 20,
  OPTION_SUPPRESS_PROXY_HEADERS = 265,
  OPTION_BODY_CONTEXT = 10001,
  OPTION_URL = 10002,
  OPTION_MESSAGE = 10010,
  OPTION_AGENT = 10018,
  OPTION_HEADERS = 10023,
  OPTION_HEADER_CONTEXT = 10029,
  OPTION_CERTIFICATES = 10065,
  OPTION_PROGRESS_CONTEXT = 10057,
  OPTION_BODY = 20011,
  OPTION_HEADER = 20079,
  OPTION_PROGRESS = 20219,
};
enum { INFO_RESPONSE = 0x200002, INFO_REDIRECTION = 0x10001f };
enum { PROTOCOL_HTTP = 1, PROTOCOL_HTTPS = 2, PROTOCOL_FILE = 0x400 };
enum { GLOBAL_DEFAULT = 3, OUT_OF_MEMORY = 27 };

static struct {
  int (*global_init)(long);
  curl *(*easy_init)(void);
  int (*easy_setopt)(curl *, int, ...);
  int (*easy_perform)(curl *);
  int (*easy_getinfo)(curl *, int, ...);
  void (*easy_cleanup)(curl *);
  const char *(*easy_strerror)(int);
  curl_list *(*slist_append)(curl_list *, const char *);
  void (*slist_free_all)(curl_list *);
} library;
static char unavailable[256];

static void open_library(void) {
  void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    snprintf(unavailable, sizeof unavailable, "%s", why ? why : "libcurl.so.4 cannot be opened");
    handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    unavailable[0] = 0;
  }
#define KELVIN_LOAD(name)                                                                      \
  {                                                                                            \
    void *address = dlsym(handle, "curl_" #name);                                              \
    if (!address) {                                                                            \
      snprintf(unavailable, sizeof unavailable, "libcurl.so.4 has no function curl_" #name);   \
      return;                                                                                  \
    }                                                                                          \
    memcpy(&library.name, &address, sizeof address);                                           \
  }
  KELVIN_LOAD(global_init)
  KELVIN_LOAD(easy_init)
  KELVIN_LOAD(easy_setopt)
  KELVIN_LOAD(easy_perform)
  KELVIN_LOAD(easy_getinfo)
  KELVIN_LOAD(easy_cleanup)
  KELVIN_LOAD(easy_strerror)
  KELVIN_LOAD(slist_append)
  KELVIN_LOAD(slist_free_all)
#undef KELVIN_LOAD
  int code = library.global_init(GLOBAL_DEFAULT);
  if (code) snprintf(unavailable, sizeof unavailable, "libcurl does not start: %s", library.easy_strerror(code));
}

typedef struct {
  const kelvin_transfer_request *request;
  curl *handle;
} state;

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
  const kelvin_transfer_request *request = ((state *)context)->request;
  return request->header(request->context, bytes, size * count) ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
  state *now = context;
  long response = 0;
  library.easy_getinfo(now->handle, INFO_RESPONSE, &response);
  return now->request->body(now->request->context, response, bytes, size * count) ? size * count : 0;
}

static int show_progress(void *context, int64_t total, int64_t done, int64_t to_send, int64_t sent) {
  (void)total, (void)done, (void)to_send, (void)sent;
  const kelvin_transfer_request *request = ((state *)context)->request;
  return request->continues(request->context) ? 0 : 1;
}

/// Returns the outcome for a number of libcurl's errors.
static kelvin_transfer_outcome outcome(int code) {
  switch (code) {
    case 0: return KELVIN_TRANSFER_DONE;
    case 3: return KELVIN_TRANSFER_INVALID;
    case 5: case 6: case 7: case 97: return KELVIN_TRANSFER_UNREACHABLE;
    case 8: case 16: case 18: case 52: case 55: case 56: case 61: case 92: case 95: return KELVIN_TRANSFER_BROKEN;
    case 23: case 42: return KELVIN_TRANSFER_ENDED;
    case 28: return KELVIN_TRANSFER_SILENT;
    case 35: case 53: case 54: case 58: case 59: case 60: case 66: case 77: case 80: case 82: case 83: case 90: case 91:
      return KELVIN_TRANSFER_UNTRUSTED;
    case 9: case 37: return KELVIN_TRANSFER_UNREADABLE;
    default: return KELVIN_TRANSFER_FAILED;
  }
}

static int configure(state *now, char *message) {
  const kelvin_transfer_request *request = now->request;
  int code = 0;
#define KELVIN_SET(option, value) \
  if (!code) code = library.easy_setopt(now->handle, option, value);
  KELVIN_SET(OPTION_URL, request->url)
  KELVIN_SET(OPTION_AGENT, request->agent)
  KELVIN_SET(OPTION_MESSAGE, message)
  KELVIN_SET(OPTION_PROTOCOLS, (long)(PROTOCOL_HTTP | PROTOCOL_HTTPS | PROTOCOL_FILE))
  KELVIN_SET(OPTION_FOLLOWS, 0L)
  // Timeouts by signals would concern other threads.
  KELVIN_SET(OPTION_NO_SIGNAL, 1L)
  KELVIN_SET(OPTION_SUPPRESS_PROXY_HEADERS, 1L)
  KELVIN_SET(OPTION_CONNECT_SECONDS, request->connect_seconds)
  KELVIN_SET(OPTION_SILENT_RATE, 1L)
  KELVIN_SET(OPTION_SILENT_SECONDS, request->silent_seconds)
  KELVIN_SET(OPTION_HEADER, take_header)
  KELVIN_SET(OPTION_HEADER_CONTEXT, now)
  KELVIN_SET(OPTION_BODY, take_body)
  KELVIN_SET(OPTION_BODY_CONTEXT, now)
  KELVIN_SET(OPTION_PROGRESS, show_progress)
  KELVIN_SET(OPTION_PROGRESS_CONTEXT, now)
  KELVIN_SET(OPTION_NO_PROGRESS, 0L)
  if (request->certificates) KELVIN_SET(OPTION_CERTIFICATES, request->certificates)
#undef KELVIN_SET
  return code;
}

static int perform(state *now, kelvin_transfer_result *result) {
  const kelvin_transfer_request *request = now->request;
  int code = configure(now, result->message);
  curl_list *headers = NULL;
  for (size_t index = 0; index < request->header_count && !code; index += 1) {
    curl_list *longer = library.slist_append(headers, request->headers[index]);
    if (!longer) code = OUT_OF_MEMORY;
    else headers = longer;
  }
  if (!code) code = library.easy_setopt(now->handle, OPTION_HEADERS, headers);
  if (!code) code = library.easy_perform(now->handle);
  const char *redirection = NULL;
  library.easy_getinfo(now->handle, INFO_RESPONSE, &result->response);
  library.easy_getinfo(now->handle, INFO_REDIRECTION, &redirection);
  if (redirection && strlen(redirection) < sizeof result->redirection) strcpy(result->redirection, redirection);
  library.slist_free_all(headers);
  return code;
}

bool kelvin_transfer(const kelvin_transfer_request *request, kelvin_transfer_result *result, const char **reason) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  *reason = unavailable[0] ? unavailable : NULL;
  if (unavailable[0]) return false;
  memset(result, 0, sizeof *result);
  state now = {request, library.easy_init()};
  int code = now.handle ? perform(&now, result) : OUT_OF_MEMORY;
  if (now.handle) library.easy_cleanup(now.handle);
  result->outcome = outcome(code);
  if (code && !result->message[0]) snprintf(result->message, sizeof result->message, "%s", library.easy_strerror(code));
  return true;
}
