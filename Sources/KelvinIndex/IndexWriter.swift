package import KelvinBasics
package import KelvinFeatures
package import KelvinHostOperations

/// An index that is being updated. `IndexLock` ensures that there is only one writer at a time.
///
/// Committed data survives a crash, because the file has a write-ahead log.
package final class IndexWriter {
  /// An image that is in the index.
  package struct Known {
    package let id: Int64
    package let state: ImageState
    package let content: [UInt8]
    /// The reason why the file could not be read; nil for a readable image.
    package let error: String?
  }

  /// A record to write for an image.
  package struct Record: Sendable {
    package var path: String
    package var state: ImageState
    /// The SHA-256 digest of the file.
    package var content: [UInt8]
    package var finding: Finding

    package init(path: String, state: ImageState, content: [UInt8], finding: Finding) {
      (self.path, self.state, self.content, self.finding) = (path, state, content, finding)
    }
  }

  package enum Finding: Sendable {
    case seen(ImageFinding)
    /// The same content as another image of the index, given by its identifier.
    case same(as: Int64)
    case unreadable(String)
  }

  private let database: Database
  private let lock: IndexLock
  private let statements: Statements
  private var labels: [ExactString: Int64] = [:]

  /// Opens an index for writing, and creates it if necessary.
  ///
  /// - Parameters:
  ///   - facts: The description of the model and settings.
  ///   - curves: The precision and recall curves of the model's classes.
  ///   - rebuilds: Whether an index of another model is emptied. Otherwise such an index is an error.
  ///   - waiting: Called once where another process updates the index.
  /// - Throws: `otherModel`, `unusable`, `libraryMissing`, `io`, `cancelled`.
  package init(
    _ file: IndexFile, _ facts: IndexFacts, curves: [ExactString: PrecisionRecallCurve], rebuilds: Bool,
    waiting: (Int?) -> Void, isCancelled: () -> Bool
  ) throws(PhotoIndexError) {
    _ = try SQLiteLibrary.functions()
    lock = try IndexLock("\(try file.location())-lock", waiting: waiting, isCancelled: isCancelled)
    let database = try Database(try file.location(), .writing)
    try IndexSchema.prepare(database)
    let stored = try IndexFacts.stored(in: database)
    if let stored, stored.identity != facts.identity, !rebuilds {
      throw PhotoIndexError(
        .otherModel,
        "'\(file.path)' was made by the model \(stored.modelName) (\(stored.modelPath)), not by \(facts.modelName) with"
          + " these settings; use that model, --rebuild to start over, or --index for a second index")
    }
    let isNew = stored == nil || rebuilds
    if isNew || stored != facts {
      try database.transaction { () throws(PhotoIndexError) in
        if isNew { try Self.empty(database) }
        try facts.store(in: database)
      }
    }
    statements = try Statements(database)
    let rows = try database.prepare("SELECT id, name FROM labels")
    while try rows.step() { labels[ExactString(try rows.name(1))] = rows.integer(0) }
    self.database = database
    try store(curves)
  }

  private static func empty(_ database: Database) throws(PhotoIndexError) {
    for table in ["curves", "observations", "embeddings", "pictures", "labels"] {
      try database.run("DELETE FROM \(table)")
    }
    try database.run("INSERT INTO label_words (label_words) VALUES ('delete-all')")
  }

  private func store(_ curves: [ExactString: PrecisionRecallCurve]) throws(PhotoIndexError) {
    // Counting a whole table is one step of SQLite, which no limit ends.
    let hasStored = try database.number("SELECT 1 FROM curves LIMIT 1") == 1
    guard !curves.isEmpty || hasStored else { return }
    try database.transaction { () throws(PhotoIndexError) in
      try database.run("DELETE FROM curves")
      let insert = try database.prepare("INSERT OR IGNORE INTO curves VALUES (?, ?, ?, ?)")
      for (name, curve) in curves {
        let label = SQLiteValue.integer(try self.label(name.string))
        for (kind, points) in [("precision", curve.precision), ("recall", curve.recall)] {
          for point in points {
            try insert.run(label, .text(kind), .real(Double(point.threshold)), .real(Double(point.value)))
          }
        }
      }
    }
  }

  /// Returns the images that are in the index, by path.
  package func known() throws(PhotoIndexError) -> [ExactString: Known] {
    var known: [ExactString: Known] = [:]
    let rows = try database.prepare("SELECT id, path, size, modified, inode, content, error FROM pictures")
    while try rows.step() {
      guard let path = ImagePath.path(rows, 1) else { continue }
      known[ExactString(path)] = Known(
        id: rows.integer(0),
        state: ImageState(size: rows.integer(2), modified: rows.integer(3), inode: rows.integer(4)),
        content: try rows.digest(5), error: rows.isNull(6) ? nil : try rows.name(6))
    }
    return known
  }

  /// Writes records in one transaction.
  ///
  /// - Returns: The images' identifiers, in the order of the records.
  package func write(_ records: [Record]) throws(PhotoIndexError) -> [Int64] {
    try database.transaction { () throws(PhotoIndexError) in
      var ids: [Int64] = []
      for record in records { ids.append(try write(record)) }
      return ids
    }
  }

  private func write(_ record: Record) throws(PhotoIndexError) -> Int64 {
    let (path, state) = (ImagePath.value(record.path), record.state)
    try statements.file.run(
      path, .integer(state.size), .integer(state.modified), .integer(state.inode), .blob(record.content))
    let id = try statements.id(of: path)
    if case .same(let other) = record.finding {
      guard other != id else { return id }
      try forget(id)
      for statement in statements.copies { try statement.run(.integer(id), .integer(other)) }
      return id
    }
    try forget(id)
    switch record.finding {
    case .seen(let finding):
      try statements.image.run(
        .integer(id), .integer(Int64(finding.width)), .integer(Int64(finding.height)),
        .integer(Int64(bitPattern: finding.hash)), .null)
      for (rank, seen) in finding.labels.enumerated() {
        try statements.observation.run(
          .integer(id), .integer(Int64(rank)), .integer(try label(seen.label)), .real(Double(seen.confidence)))
      }
      if let vector = finding.vector { try statements.embedding.run(.integer(id), .blob(vector)) }
    case .unreadable(let reason): try statements.image.run(.integer(id), .null, .null, .null, .text(reason))
    case .same: break
    }
    return id
  }

  private func forget(_ id: Int64) throws(PhotoIndexError) {
    for statement in statements.forgetting { try statement.run(.integer(id)) }
  }

  /// Removes images from the index.
  package func drop(_ ids: [Int64]) throws(PhotoIndexError) {
    try database.transaction { () throws(PhotoIndexError) in
      let drop = try database.prepare("DELETE FROM pictures WHERE id = ?")
      for id in ids {
        try forget(id)
        try drop.run(.integer(id))
      }
    }
  }

  /// Returns the identifier of a label, which is created if necessary.
  private func label(_ name: String) throws(PhotoIndexError) -> Int64 {
    if let id = labels[ExactString(name)] { return id }
    try statements.label.run(.text(name))
    let id = database.lastRow
    try statements.words.run(.integer(id), .text(name))
    labels[ExactString(name)] = id
    return id
  }
}

/// The prepared statements for writing images.
private struct Statements {
  let file, image, observation, embedding, label, words: Statement
  let copies, forgetting: [Statement]
  private let find: Statement

  init(_ database: Database) throws(PhotoIndexError) {
    file = try database.prepare(
      """
      INSERT INTO pictures (path, size, modified, inode, content) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (path) DO UPDATE SET size = excluded.size, modified = excluded.modified, inode = excluded.inode,
        content = excluded.content
      """)
    image = try database.prepare(
      "UPDATE pictures SET width = ?2, height = ?3, hash = ?4, error = ?5 WHERE id = ?1")
    find = try database.prepare("SELECT id FROM pictures WHERE path = ?")
    observation = try database.prepare("INSERT INTO observations VALUES (?, ?, ?, ?)")
    embedding = try database.prepare("INSERT INTO embeddings VALUES (?, ?)")
    label = try database.prepare("INSERT INTO labels (name) VALUES (?)")
    words = try database.prepare("INSERT INTO label_words (rowid, name) VALUES (?, ?)")
    copies = [
      try database.prepare(
        """
        UPDATE pictures SET (width, height, hash, error) =
          (SELECT width, height, hash, error FROM pictures WHERE id = ?2) WHERE id = ?1
        """),
      try database.prepare(
        "INSERT INTO observations SELECT ?1, rank, label, confidence FROM observations WHERE picture = ?2"),
      try database.prepare("INSERT INTO embeddings SELECT ?1, vector FROM embeddings WHERE picture = ?2"),
    ]
    forgetting = [
      try database.prepare("DELETE FROM observations WHERE picture = ?"),
      try database.prepare("DELETE FROM embeddings WHERE picture = ?"),
    ]
  }

  func id(of path: SQLiteValue) throws(PhotoIndexError) -> Int64 {
    try find.bind([path])
    guard try find.step() else { return 0 }
    defer { find.rewind() }
    return find.integer(0)
  }
}
