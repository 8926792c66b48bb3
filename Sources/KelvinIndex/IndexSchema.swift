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

  /// The tables of `label_words`, as SQLite makes them.
  private static let wordTables = [
    "CREATE TABLE 'label_words_config'(k PRIMARY KEY, v) WITHOUT ROWID",
    "CREATE TABLE 'label_words_data'(id INTEGER PRIMARY KEY, block BLOB)",
    "CREATE TABLE 'label_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB)",
    "CREATE TABLE 'label_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
  ]

  /// The statements that a database consists of, sorted by their bytes.
  private static func layout(of database: Database) throws(PhotoIndexError) -> [[UInt8]] {
    var layout: [[UInt8]] = []
    let rows = try database.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    while try rows.step() {
      layout.append(rows.bytes(0))
      guard layout.count <= mostStatements else { break }
    }
    return layout.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private static let mostStatements = 100

  /// Checks that a file has exactly the tables of the format. Others, such as a view in place of a table, could make a
  /// search endless.
  private static func checkLayout(_ database: Database) throws(PhotoIndexError) {
    let found = try layout(of: database)
    let known = (statements + wordTables).map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    guard found != known else { return }
    // A later SQLite may make other tables for words.
    let made = try Database(":memory:", .writing)
    for statement in statements { try made.run(statement) }
    guard try found != layout(of: made) else { return }
    let foreign = found.first { !known.contains($0) }.map { String(decoding: $0.prefix(80), as: UTF8.self) }
    throw database.damaged(
      foreign.map { "it has '\($0)', which format \(version) does not have" }
        ?? "tables of format \(version) are missing")
  }

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
  /// - Throws: `absent` for an empty file; `unusable` for a file of another format or version, or with other tables.
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
    try checkLayout(database)
  }

  private static func isEmpty(_ database: Database) throws(PhotoIndexError) -> Bool {
    // A file with an application identifier belongs to a program, even if it has no tables.
    let hasTables = try database.number("SELECT 1 FROM sqlite_master LIMIT 1") == 1
    return !hasTables ? try database.number("PRAGMA application_id") == 0 : false
  }
}
