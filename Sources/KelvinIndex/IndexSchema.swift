import KelvinFeatures

/// The tables of an index, and the checks of its format (docs/index-format.md).
enum IndexSchema {
  /// SQLite's application identifier of the format, "KlvI".
  static let application: Int64 = 0x4B6C_7649
  static let version: Int64 = 1

  static let statements = [
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """
    CREATE TABLE curves (
      label INTEGER NOT NULL REFERENCES labels, kind TEXT NOT NULL CHECK (kind IN ('precision', 'recall')),
      threshold REAL NOT NULL, value REAL NOT NULL, PRIMARY KEY (label, kind, threshold)) WITHOUT ROWID
    """,
    """
    CREATE TABLE pictures (
      id INTEGER PRIMARY KEY, path NOT NULL UNIQUE, size INTEGER NOT NULL, modified INTEGER NOT NULL,
      inode INTEGER NOT NULL, content BLOB NOT NULL, width INTEGER, height INTEGER, hash INTEGER, error TEXT)
    """,
    "CREATE INDEX pictures_content ON pictures (content)",
    "CREATE INDEX pictures_modified ON pictures (modified)",
    """
    CREATE TABLE observations (
      picture INTEGER NOT NULL REFERENCES pictures, rank INTEGER NOT NULL, label INTEGER NOT NULL REFERENCES labels,
      confidence REAL NOT NULL, PRIMARY KEY (picture, rank)) WITHOUT ROWID
    """,
    "CREATE INDEX observations_label ON observations (label, confidence)",
    "CREATE INDEX observations_surest ON observations (label, confidence) WHERE rank = 0",
    "CREATE TABLE embeddings (picture INTEGER PRIMARY KEY REFERENCES pictures, vector BLOB NOT NULL)",
    """
    CREATE VIRTUAL TABLE label_words USING fts5(
      name, content = 'labels', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2')
    """,
  ]

  /// Prepares a connection for writing. Tables are created in one transaction where the file has none.
  ///
  /// - Throws: `unusable` for a file of another format or a newer version.
  static func prepare(_ database: Database) throws(PhotoIndexError) {
    // The format is checked first, so that a file of another program is not changed.
    if try !isEmpty(database) { try check(database) }
    // With large pages, vectors of 512 numbers are not split. The setting affects new files only.
    try database.run("PRAGMA page_size = 16384")
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA synchronous = NORMAL")
    try database.transaction { () throws(PhotoIndexError) in
      guard try !isEmpty(database) else {
        for statement in statements { try database.run(statement) }
        try database.run("PRAGMA application_id = \(application)")
        try database.run("PRAGMA user_version = \(version)")
        return
      }
      try check(database)
    }
  }

  /// Checks the format of a file.
  ///
  /// - Throws: `absent` for an empty file; `unusable` for a file of another format or version.
  static func check(_ database: Database) throws(PhotoIndexError) {
    guard try !isEmpty(database) else {
      throw PhotoIndexError(.absent, "'\(database.path)' holds no index yet; 'kelvin index' makes one")
    }
    guard try database.number("PRAGMA application_id") == application else {
      throw PhotoIndexError(
        .unusable, "'\(database.path)' is a database, but not an index of Kelvin's; name another file with --index")
    }
    let found = try database.number("PRAGMA user_version")
    guard found == version else {
      throw PhotoIndexError(
        .unusable,
        "'\(database.path)' has format \(found), this Kelvin knows format \(version); "
          + (found > version ? "use the newer Kelvin that wrote it, " : "")
          + "or index the folder into another file with --index")
    }
  }

  private static func isEmpty(_ database: Database) throws(PhotoIndexError) -> Bool {
    // A file with an application identifier belongs to a program, even if it has no tables.
    let signs = try database.number("SELECT count(*) FROM sqlite_schema")
    return signs == 0 ? try database.number("PRAGMA application_id") == 0 : false
  }
}
