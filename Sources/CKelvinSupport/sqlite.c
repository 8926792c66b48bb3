#include "sqlite_table.h"
#include "untrusted_sqlite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static kelvin_sqlite sqlite;
static char unavailable[256];

/// The first version with all features that Kelvin uses: generated upserts, and FTS5 as distributions build it.
enum { OLDEST = 3031000 };

static void open_library(void) {
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    snprintf(unavailable, sizeof unavailable, "%s", why ? why : "libsqlite3.so.0 cannot be opened");
    return;
  }
#define KELVIN_LOAD(result, name, parameters)                                                               \
  {                                                                                                         \
    void *address = dlsym(library, "sqlite3_" #name);                                                       \
    if (!address) {                                                                                         \
      snprintf(unavailable, sizeof unavailable, "libsqlite3.so.0 has no function sqlite3_" #name);           \
      return;                                                                                               \
    }                                                                                                       \
    memcpy(&sqlite.name, &address, sizeof address);                                                         \
  }
  KELVIN_SQLITE(KELVIN_LOAD)
#undef KELVIN_LOAD
  int version = sqlite.libversion_number();
  if (version < OLDEST)
    snprintf(
      unavailable, sizeof unavailable, "SQLite 3.31 or later is needed, this is %d.%d", version / 1000000,
      version / 1000 % 1000);
  else if (!sqlite.compileoption_used("ENABLE_FTS5"))
    snprintf(unavailable, sizeof unavailable, "this SQLite is built without full-text search (FTS5)");
  else if (!kelvin_untrusted_sqlite_prepare(library))
    snprintf(unavailable, sizeof unavailable, "this SQLite has no file system of its own for Linux");
}

const kelvin_sqlite *kelvin_sqlite_load(const char **reason) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  *reason = unavailable[0] ? unavailable : NULL;
  return unavailable[0] ? NULL : &sqlite;
}

/// The value by which SQLite copies bound bytes.
#define TRANSIENT ((void (*)(void *))(intptr_t)-1)

int kelvin_sqlite_bind_text(kelvin_sqlite_statement *statement, int index, const void *bytes, int count) {
  return sqlite.bind_text(statement, index, bytes, count, TRANSIENT);
}

int kelvin_sqlite_bind_blob(kelvin_sqlite_statement *statement, int index, const void *bytes, int count) {
  return sqlite.bind_blob(statement, index, bytes, count, TRANSIENT);
}
