import CKelvinSupport
import KelvinFeatures

/// A value of a statement's parameter.
enum SQLiteValue {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])

  static func text(_ text: String) -> SQLiteValue { .text(Array(text.utf8)) }
}

/// A prepared statement. After binding values it is stepped from row to row. Columns are valid until the next step.
final class Statement {
  private let database: Database
  private let handle: OpaquePointer
  private var rows = 0

  init(_ handle: OpaquePointer, of database: Database) {
    self.handle = handle
    self.database = database
  }

  deinit { _ = database.functions.finalize(handle) }

  /// Resets the statement and binds values to its parameters, from the first on.
  func bind(_ values: [SQLiteValue]) throws(PhotoIndexError) {
    let functions = database.functions
    rewind()
    for (index, value) in zip(Int32(1)..., values) {
      let status =
        switch value {
        case .null: functions.bind_null(handle, index)
        case .integer(let number): functions.bind_int64(handle, index, number)
        case .real(let number): functions.bind_double(handle, index, number)
        case .text(let bytes): Self.withBytes(bytes) { kelvin_sqlite_bind_text(handle, index, $0, $1) }
        case .blob(let bytes): Self.withBytes(bytes) { kelvin_sqlite_bind_blob(handle, index, $0, $1) }
        }
      try database.check(status, doing: "write")
    }
  }

  /// Calls `body` with a non-null address even for an empty array, because SQLite treats a null pointer as NULL.
  private static func withBytes(_ bytes: [UInt8], _ body: (UnsafeRawPointer, Int32) -> Int32) -> Int32 {
    (bytes.isEmpty ? [0] : bytes).withUnsafeBytes { raw in
      raw.baseAddress.map { body($0, Int32(clamping: bytes.count)) } ?? 0
    }
  }

  /// Advances to the next row; false after the last.
  func step() throws(PhotoIndexError) -> Bool {
    let status = database.functions.step(handle)
    try database.check(status, doing: "use")
    guard status == KELVIN_SQLITE_ROW else { return false }
    rows += 1
    try database.count(row: rows)
    return true
  }

  /// Binds values, runs the statement to its end and releases its locks.
  func run(_ values: SQLiteValue...) throws(PhotoIndexError) {
    try bind(values)
    while try step() {}
    rewind()
  }

  /// Resets the statement, which releases its locks.
  func rewind() {
    _ = database.functions.reset(handle)
    rows = 0
  }

  func isNull(_ column: Int32) -> Bool { database.functions.column_type(handle, column) == KELVIN_SQLITE_NULL }
  func integer(_ column: Int32) -> Int64 { database.functions.column_int64(handle, column) }
  func real(_ column: Int32) -> Double { database.functions.column_double(handle, column) }
  func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }
  /// Returns a text of bounded length.
  ///
  /// - Throws: `unusable` for a longer text, which Kelvin does not write.
  func name(_ column: Int32) throws(PhotoIndexError) -> String {
    let count = withBytes(column) { $0.count }
    guard count <= Self.longestName else { throw database.damaged("a text has \(count) bytes") }
    return text(column)
  }

  private static let longestName = 1 << 16

  /// Returns a number that a model gave.
  ///
  /// - Throws: `unusable` for a number that is not finite.
  func score(_ column: Int32) throws(PhotoIndexError) -> Float {
    let score = Float(real(column))
    guard score.isFinite else { throw database.damaged("a confidence is \(score)") }
    return score
  }

  /// Returns a SHA-256 digest.
  ///
  /// - Throws: `unusable` for more bytes.
  func digest(_ column: Int32) throws(PhotoIndexError) -> [UInt8] {
    let digest = bytes(column)
    guard digest.count <= 32 else { throw database.damaged("a digest has \(digest.count) bytes, more than 32") }
    return digest
  }

  func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

  /// Calls `body` with the bytes of a text or blob in SQLite's memory.
  func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = database.functions.column_blob(handle, column)
    return body(UnsafeRawBufferPointer(start: start, count: Int(database.functions.column_bytes(handle, column))))
  }
}
