#define _GNU_SOURCE
#include "untrusted_sqlite.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guarded_mapping.h"
#include "sqlite_table.h"

// The parts of SQLite's interface to a file system that are replaced. The others are copied as they are.
struct file {
  const struct methods *methods;
};

struct methods {
  int version;
  int (*close)(struct file *);
  void *read, *write, *truncate, *sync, *file_size, *lock, *unlock, *check_reserved_lock;
  int (*control)(struct file *, int, void *);
  void *sector_size, *device_characteristics;
  // Since version 2.
  int (*map_shared)(struct file *, int, int, int, void volatile **);
  int (*lock_shared)(struct file *, int, int, int);
  void *barrier_shared;
  int (*unmap_shared)(struct file *, int);
  // Version 3 adds mapped databases, which are left out.
};

struct system {
  int version, file_size, longest_path;
  struct system *next;
  const char *name;
  void *data;
  int (*open)(struct system *, const char *, struct file *, int, int *);
  void *functions[15];
};

enum { OK = 0, IO_ERROR = 10, NO_MEMORY = 7, CANNOT_OPEN = 14 };
enum { MAIN_DATABASE = 0x100, SUPER_JOURNAL = 0x4000 };
enum { LOCK_SHARED = 2, IS_CUT_SHORT = 0x4B6C7601 };

static struct system *base;
static struct system untrusted;
static int (*set_limit)(kelvin_sqlite_database *, int, int);
static int (*configure)(kelvin_sqlite_database *, int, ...);
static int (*control_file)(kelvin_sqlite_database *, const char *, int, void *);

// The memory behind the base system's file of a main database: its methods, and the guards of its shared memory.
struct extension {
  struct methods methods;
  const struct methods *base;
  struct ck_guard **guards;
  int count;
};

static struct extension *extension(struct file *file) {
  return (struct extension *)((char *)file + base->file_size);
}

static bool is_cut_short(const struct extension *own) {
  for (int i = 0; i < own->count; i++)
    if (own->guards[i] && ck_guard_is_damaged(own->guards[i])) return true;
  return false;
}

// The other connections of the process share the mapping, and have guards of their own.
static void end_guards(struct extension *own) {
  for (int i = 0; i < own->count; i++)
    if (own->guards[i]) ck_guard_end(own->guards[i]);
  free(own->guards);
  own->guards = NULL;
  own->count = 0;
}

static int map_shared(struct file *file, int region, int size, int extends, void volatile **address) {
  struct extension *own = extension(file);
  int status = own->base->map_shared(file, region, size, extends, address);
  if (!*address) return status;
  if (region >= own->count) {
    struct ck_guard **grown = realloc(own->guards, ((size_t)region + 1) * sizeof *grown);
    if (!grown) return NO_MEMORY;
    memset(grown + own->count, 0, ((size_t)region + 1 - (size_t)own->count) * sizeof *grown);
    own->guards = grown;
    own->count = region + 1;
  }
  if (!own->guards[region]) own->guards[region] = ck_guard_begin((const void *)*address, (size_t)size, true);
  return own->guards[region] ? status : NO_MEMORY;
}

static int lock_shared(struct file *file, int offset, int count, int flags) {
  // Without the shared memory, a writer would overwrite what others read.
  if (flags & LOCK_SHARED && is_cut_short(extension(file))) return IO_ERROR;
  return extension(file)->base->lock_shared(file, offset, count, flags);
}

static int unmap_shared(struct file *file, int removes) {
  end_guards(extension(file));
  return extension(file)->base->unmap_shared(file, removes);
}

static int close_database(struct file *file) {
  end_guards(extension(file));
  return extension(file)->base->close(file);
}

static int control(struct file *file, int operation, void *argument) {
  if (operation != IS_CUT_SHORT) return extension(file)->base->control(file, operation, argument);
  *(bool *)argument = is_cut_short(extension(file));
  return OK;
}

static int open_file(struct system *system, const char *path, struct file *file, int flags, int *opened) {
  file->methods = NULL;
  struct stat status;
  if (flags & SUPER_JOURNAL) return CANNOT_OPEN;
  // Opening a pipe would wait for its writer.
  if (path && lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) return CANNOT_OPEN;
  int result = base->open(system, path, file, flags, opened);
  if (!file->methods || !(flags & MAIN_DATABASE)) return result;
  struct extension *own = extension(file);
  memset(own, 0, sizeof *own);
  own->base = file->methods;
  bool shares = own->base->version >= 2;
  memcpy(&own->methods, own->base, shares ? sizeof own->methods : offsetof(struct methods, map_shared));
  own->methods.version = shares ? 2 : 1;
  own->methods.close = close_database;
  own->methods.control = control;
  if (shares) {
    own->methods.map_shared = map_shared;
    own->methods.lock_shared = lock_shared;
    own->methods.unmap_shared = unmap_shared;
  }
  file->methods = &own->methods;
  return result;
}

bool kelvin_untrusted_sqlite_prepare(void *library) {
  struct system *(*find)(const char *) = (struct system * (*)(const char *)) dlsym(library, "sqlite3_vfs_find");
  int (*add)(struct system *, int) = (int (*)(struct system *, int))dlsym(library, "sqlite3_vfs_register");
  set_limit = (int (*)(kelvin_sqlite_database *, int, int))dlsym(library, "sqlite3_limit");
  configure = (int (*)(kelvin_sqlite_database *, int, ...))dlsym(library, "sqlite3_db_config");
  control_file = (int (*)(kelvin_sqlite_database *, const char *, int, void *))dlsym(library, "sqlite3_file_control");
  if (!find || !add || !set_limit || !configure || !control_file) return false;
  base = find("unix");
  if (!base || base->version < 1) return false;
  // The functions after `open` in version 1, in version 2, and in version 3.
  size_t functions = base->version == 1 ? 11 : base->version == 2 ? 12 : 15;
  memcpy(&untrusted, base, offsetof(struct system, functions) + functions * sizeof(void *));
  if (untrusted.version > 3) untrusted.version = 3;
  untrusted.name = KELVIN_SQLITE_SYSTEM;
  untrusted.next = NULL;
  untrusted.file_size = base->file_size + (int)sizeof(struct extension);
  untrusted.open = open_file;
  return add(&untrusted, 0) == OK;
}

/// The number and the value of a limit, or of a switch.
struct setting {
  int number, value;
};

static const struct setting limits[] = {
  {0, 64 << 20},  // bytes of a string, blob or row
  {1, 100000},    // bytes of a statement
  {2, 64},        // columns
  {3, 50},        // depth of an expression
  {4, 4},         // parts of a compound SELECT
  {5, 25000},     // instructions of a statement
  {6, 16},        // arguments of a function
  {7, 0},         // attached databases
  {8, 100},       // bytes of a LIKE pattern
  {9, 50},        // parameters
  {10, 4},        // depth of triggers
};

static const struct setting switches[] = {
  {1003, 0},  // triggers
  {1005, 0},  // extensions
  {1010, 1},  // defensive
  {1015, 0},  // views
  {1017, 0},  // trusted schema
};

void kelvin_sqlite_distrust(kelvin_sqlite_database *database) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) set_limit(database, limits[i].number, limits[i].value);
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
    configure(database, switches[i].number, switches[i].value, NULL);
}

bool kelvin_sqlite_is_cut_short(kelvin_sqlite_database *database) {
  bool answer = false;
  return control_file(database, "main", IS_CUT_SHORT, &answer) == OK && answer;
}
