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

  init(_ handle: OpaquePointer, of database: Database) {
    self.handle = handle
    self.database = database
  }

  deinit { _ = database.functions.finalize(handle) }

  /// Resets the statement and binds values to its parameters, from the first on.
  func bind(_ values: [SQLiteValue]) throws(PhotoIndexError) {
    let functions = database.functions
    _ = functions.reset(handle)
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
    return status == KELVIN_SQLITE_ROW
  }

  /// Binds values, runs the statement to its end and releases its locks.
  func run(_ values: SQLiteValue...) throws(PhotoIndexError) {
    try bind(values)
    while try step() {}
    rewind()
  }

  /// Resets the statement, which releases its locks.
  func rewind() { _ = database.functions.reset(handle) }

  func isNull(_ column: Int32) -> Bool { database.functions.column_type(handle, column) == KELVIN_SQLITE_NULL }
  func integer(_ column: Int32) -> Int64 { database.functions.column_int64(handle, column) }
  func real(_ column: Int32) -> Double { database.functions.column_double(handle, column) }
  func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }
  func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

  /// Calls `body` with the bytes of a text or blob in SQLite's memory.
  func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = database.functions.column_blob(handle, column)
    return body(UnsafeRawBufferPointer(start: start, count: Int(database.functions.column_bytes(handle, column))))
  }
}
