import CKelvinSupport
import KelvinBasics

/// One connection to a SQLite file, for one thread at a time.
package final class Database {
  enum Access {
    /// Reads what is there. It may write what SQLite keeps beside the file, and takes that away when it is the last.
    case reading
    /// Reads a file that nobody writes, in a folder where no file of SQLite's own can be made.
    case readingUnchanging
    /// Reads, writes, and makes the file where there is none.
    case writing
  }

  let functions: kelvin_sqlite
  let path: String
  private let handle: OpaquePointer

  /// - Throws: `io` where the file cannot be opened, `libraryMissing`.
  init(_ path: String, _ access: Access) throws(PhotoIndexError) {
    functions = try SQLiteLibrary.functions()
    self.path = path
    let (name, flags) =
      switch access {
      case .reading: (path.pathBytes, KELVIN_SQLITE_OPEN_READWRITE)
      case .readingUnchanging:
        (Self.address(path), KELVIN_SQLITE_OPEN_READONLY | KELVIN_SQLITE_OPEN_URI)
      case .writing: (path.pathBytes, KELVIN_SQLITE_OPEN_READWRITE | KELVIN_SQLITE_OPEN_CREATE)
      }
    var opened: OpaquePointer?
    let status = functions.open_v2(name, &opened, Int32(flags | KELVIN_SQLITE_OPEN_NOMUTEX), nil)
    guard status == KELVIN_SQLITE_OK, let opened else {
      let reason = String(cString: functions.errmsg(opened))
      _ = functions.close_v2(opened)
      throw PhotoIndexError(.io, "cannot open '\(path)': \(reason)")
    }
    handle = opened
    _ = functions.busy_timeout(handle, Self.patience)
    // What a file that somebody else made says of functions and views is not run.
    try run("PRAGMA trusted_schema = OFF")
    if access != .writing { try run("PRAGMA query_only = ON") }
  }

  deinit { _ = functions.close_v2(handle) }

  /// Milliseconds that a lock of another process is waited for.
  private static let patience: Int32 = 20_000

  /// The path as a URI, every byte beyond letters, digits and slashes by its number.
  private static func address(_ path: String) -> [CChar] {
    var text = "file:"
    for byte in path.pathBytes.dropLast().map({ UInt8(bitPattern: $0) }) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        text += (digits.utf8.count < 2 ? "%0" : "%") + digits
      }
    }
    return "\(text)?immutable=1".pathBytes
  }

  /// - Throws: the error that a status of SQLite's stands for.
  func check(_ status: Int32, doing action: String) throws(PhotoIndexError) {
    switch status {
    case Int32(KELVIN_SQLITE_OK), Int32(KELVIN_SQLITE_ROW), Int32(KELVIN_SQLITE_DONE): return
    default: break
    }
    let reason = String(cString: functions.errmsg(handle))
    let (code, remedy): (PhotoIndexError.Code, String) =
      switch status & 0xFF {
      case Int32(KELVIN_SQLITE_NOTADB): (.unusable, "; it is no index: name another file with --index")
      case Int32(KELVIN_SQLITE_CORRUPT): (.unusable, "; remove the file and index the folder again")
      case Int32(KELVIN_SQLITE_FULL): (.noSpace, "; make room and go on: what was written is kept")
      case Int32(KELVIN_SQLITE_BUSY): (.busy, "; another program keeps it locked: try again")
      default: (.io, "")
      }
    throw PhotoIndexError(code, "cannot \(action) '\(path)': \(reason)\(remedy)")
  }

  /// A statement to be run any number of times.
  func prepare(_ sql: String) throws(PhotoIndexError) -> Statement {
    var made: OpaquePointer?
    try check(functions.prepare_v2(handle, sql, -1, &made, nil), doing: "read")
    guard let made else { throw PhotoIndexError(.io, "cannot read '\(path)': an empty statement") }
    return Statement(made, of: self)
  }

  /// Runs one statement without results.
  func run(_ sql: String, _ values: SQLiteValue...) throws(PhotoIndexError) {
    let statement = try prepare(sql)
    try statement.bind(values)
    while try statement.step() {}
  }

  /// Does all of some changes, or none.
  func transaction<Result>(_ body: () throws(PhotoIndexError) -> Result) throws(PhotoIndexError) -> Result {
    try run("BEGIN IMMEDIATE")
    do throws(PhotoIndexError) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // Where SQLite has rolled back by itself, for want of room, there is nothing left to roll back.
      try? run("ROLLBACK")
      throw error
    }
  }

  /// The one number that a query answers with; 0 where it answers with nothing.
  func number(_ sql: String, _ values: SQLiteValue...) throws(PhotoIndexError) -> Int64 {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? statement.integer(0) : 0
  }

  var lastRow: Int64 { functions.last_insert_rowid(handle) }
}
