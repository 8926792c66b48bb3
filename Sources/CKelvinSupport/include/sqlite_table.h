#pragma once
#include <stdbool.h>
#include <stdint.h>

/// SQLite 3, opened at run time: building needs no headers, and a machine without the library gets an error instead of
/// a failure to start. The declarations are the part of its stable interface that Kelvin uses.
typedef struct kelvin_sqlite_database kelvin_sqlite_database;
typedef struct kelvin_sqlite_statement kelvin_sqlite_statement;

enum {
  KELVIN_SQLITE_OK = 0,
  KELVIN_SQLITE_BUSY = 5,
  KELVIN_SQLITE_READONLY = 8,
  KELVIN_SQLITE_INTERRUPT = 9,
  KELVIN_SQLITE_IOERR = 10,
  KELVIN_SQLITE_CORRUPT = 11,
  KELVIN_SQLITE_FULL = 13,
  KELVIN_SQLITE_CANTOPEN = 14,
  KELVIN_SQLITE_TOOBIG = 18,
  KELVIN_SQLITE_NOTADB = 26,
  KELVIN_SQLITE_ROW = 100,
  KELVIN_SQLITE_DONE = 101,
};
enum {
  KELVIN_SQLITE_OPEN_READONLY = 1,
  KELVIN_SQLITE_OPEN_READWRITE = 2,
  KELVIN_SQLITE_OPEN_CREATE = 4,
  KELVIN_SQLITE_OPEN_URI = 0x40,
  KELVIN_SQLITE_OPEN_NOMUTEX = 0x8000,
  KELVIN_SQLITE_OPEN_NOFOLLOW = 0x1000000,
};
enum { KELVIN_SQLITE_INTEGER = 1, KELVIN_SQLITE_FLOAT = 2, KELVIN_SQLITE_TEXT = 3, KELVIN_SQLITE_BLOB = 4, KELVIN_SQLITE_NULL = 5 };

/// Result, name after `sqlite3_`, parameters.
#define KELVIN_SQLITE(F)                                                                                                \
  F(int, libversion_number, (void))                                                                                     \
  F(int, compileoption_used, (const char *_Nonnull name))                                                               \
  F(int, open_v2,                                                                                                       \
    (const char *_Nonnull path, kelvin_sqlite_database *_Nullable *_Nonnull, int flags, const char *_Nullable system))  \
  F(int, close_v2, (kelvin_sqlite_database *_Nullable))                                                                 \
  F(const char *_Nonnull, errmsg, (kelvin_sqlite_database *_Nullable))                                                  \
  F(int, busy_timeout, (kelvin_sqlite_database *_Nonnull, int milliseconds))                                            \
  F(int, prepare_v2,                                                                                                    \
    (kelvin_sqlite_database *_Nonnull, const char *_Nonnull sql, int length,                                            \
     kelvin_sqlite_statement *_Nullable *_Nonnull, const char *_Nullable *_Nullable tail))                              \
  F(int, step, (kelvin_sqlite_statement *_Nonnull))                                                                     \
  F(int, reset, (kelvin_sqlite_statement *_Nonnull))                                                                    \
  F(int, finalize, (kelvin_sqlite_statement *_Nullable))                                                                \
  F(int, bind_null, (kelvin_sqlite_statement *_Nonnull, int index))                                                     \
  F(int, bind_int64, (kelvin_sqlite_statement *_Nonnull, int index, long long))                                         \
  F(int, bind_double, (kelvin_sqlite_statement *_Nonnull, int index, double))                                           \
  F(int, bind_text,                                                                                                     \
    (kelvin_sqlite_statement *_Nonnull, int index, const void *_Nullable, int count, void (*_Nullable)(void *_Nullable))) \
  F(int, bind_blob,                                                                                                     \
    (kelvin_sqlite_statement *_Nonnull, int index, const void *_Nullable, int count, void (*_Nullable)(void *_Nullable))) \
  F(int, column_type, (kelvin_sqlite_statement *_Nonnull, int column))                                                  \
  F(long long, column_int64, (kelvin_sqlite_statement *_Nonnull, int column))                                           \
  F(double, column_double, (kelvin_sqlite_statement *_Nonnull, int column))                                             \
  F(const void *_Nullable, column_blob, (kelvin_sqlite_statement *_Nonnull, int column))                                \
  F(int, column_bytes, (kelvin_sqlite_statement *_Nonnull, int column))                                                 \
  F(long long, last_insert_rowid, (kelvin_sqlite_database *_Nonnull))                                                   \
  F(void, progress_handler,                                                                                             \
    (kelvin_sqlite_database *_Nonnull, int steps, int (*_Nullable)(void *_Nullable), void *_Nullable))

typedef struct {
#define KELVIN_FIELD(result, name, parameters) result (*_Nonnull name) parameters;
  KELVIN_SQLITE(KELVIN_FIELD)
#undef KELVIN_FIELD
} kelvin_sqlite;

/// Returns the library, opened once for the process; NULL if it cannot be used, and `reason` then has the cause.
const kelvin_sqlite *_Nullable kelvin_sqlite_load(const char *_Nullable *_Nonnull reason);

/// The name of the file system for untrusted databases, an argument of `open_v2`. It opens regular files only and no
/// super-journal, which could name any file for removal. It maps no database, and guards the shared memory of readers
/// and writers (guarded_mapping.h).
#define KELVIN_SQLITE_SYSTEM "kelvin"

/// Sets the limits and the defences of SQLite for a database from an untrusted source.
void kelvin_sqlite_distrust(kelvin_sqlite_database *_Nonnull);

/// Whether the shared memory of a connection was cut short, so that what the connection read may be wrong.
bool kelvin_sqlite_is_cut_short(kelvin_sqlite_database *_Nonnull);

/// Binds bytes that SQLite copies.
int kelvin_sqlite_bind_text(kelvin_sqlite_statement *_Nonnull, int index, const void *_Nonnull, int count);
int kelvin_sqlite_bind_blob(kelvin_sqlite_statement *_Nonnull, int index, const void *_Nonnull, int count);
