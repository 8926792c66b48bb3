import CKelvinSupport
import KelvinBasics
import KelvinFeatures

/// A connection to a SQLite file, for use by one thread at a time.
package final class Database {
  enum Access {
    /// Reads an existing file. SQLite may create auxiliary files next to it, which the last connection removes.
    case reading
    /// Reads a file that no process writes, in a folder where no auxiliary files can be created.
    case readingUnchanging
    /// Reads and writes, and creates the file if necessary.
    case writing
  }

  let functions: kelvin_sqlite
  let path: String
  private let handle: OpaquePointer
  private let meter: StepMeter

  /// Opens a connection to a file that may come from anyone (untrusted_sqlite.c).
  ///
  /// - Parameter path: A path without symbolic links, or `:memory:`.
  /// - Throws: `io` where the file cannot be opened, `libraryMissing`.
  init(_ path: String, _ access: Access) throws(PhotoIndexError) {
    functions = try SQLiteLibrary.functions()
    self.path = path
    meter = StepMeter(path)
    let (name, flags) =
      switch access {
      case .reading: (path.pathBytes, KELVIN_SQLITE_OPEN_READWRITE)
      case .readingUnchanging:
        (Self.address(path), KELVIN_SQLITE_OPEN_READONLY | KELVIN_SQLITE_OPEN_URI)
      case .writing: (path.pathBytes, KELVIN_SQLITE_OPEN_READWRITE | KELVIN_SQLITE_OPEN_CREATE)
      }
    var opened: OpaquePointer?
    let status = functions.open_v2(
      name, &opened, Int32(flags | KELVIN_SQLITE_OPEN_NOMUTEX | KELVIN_SQLITE_OPEN_NOFOLLOW), KELVIN_SQLITE_SYSTEM)
    guard status == KELVIN_SQLITE_OK, let opened else {
      let reason = String(cString: functions.errmsg(opened))
      _ = functions.close_v2(opened)
      throw PhotoIndexError(.io, "cannot open '\(path)': \(reason)")
    }
    handle = opened
    _ = functions.busy_timeout(handle, Self.patience)
    if WorkBudget.isSpent || Task.isCancelled { throw meter.ending }
    kelvin_sqlite_distrust(handle)
    functions.progress_handler(
      handle, StepMeter.interval, { StepMeter.ends($0) }, Unmanaged.passUnretained(meter).toOpaque())
    try run("PRAGMA cell_size_check = ON")
    if access != .writing { try run("PRAGMA query_only = ON") }
  }

  deinit { _ = functions.close_v2(handle) }

  /// The time in milliseconds to wait for a lock of another process.
  private static let patience: Int32 = 20_000

  /// Returns the path as an `immutable` URI, with all bytes except letters, digits and slashes percent-encoded.
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

  /// Checks a status code of SQLite.
  ///
  /// - Throws: The error for a status that is not a success.
  func check(_ status: Int32, doing action: String) throws(PhotoIndexError) {
    switch status {
    case Int32(KELVIN_SQLITE_OK), Int32(KELVIN_SQLITE_ROW), Int32(KELVIN_SQLITE_DONE): return
    default: break
    }
    if kelvin_sqlite_is_cut_short(handle) { throw isCutShort }
    if status & 0xFF == KELVIN_SQLITE_INTERRUPT { throw meter.ending }
    let reason = String(cString: functions.errmsg(handle))
    let (code, remedy): (PhotoIndexError.Code, String) =
      switch status & 0xFF {
      case Int32(KELVIN_SQLITE_NOTADB): (.unusable, "; it is not an index: name another file with --index")
      case Int32(KELVIN_SQLITE_CORRUPT): (.unusable, "; \(Self.remedy)")
      case Int32(KELVIN_SQLITE_TOOBIG): (.unusable, "; it may have 64 MiB at most")
      case Int32(KELVIN_SQLITE_FULL): (.noSpace, "; make room and go on: what was written is kept")
      case Int32(KELVIN_SQLITE_BUSY): (.busy, "; another program keeps it locked: try again")
      case Int32(KELVIN_SQLITE_CANTOPEN), Int32(KELVIN_SQLITE_IOERR):
        (.io, "; if no program uses it, remove the files beside it that end in -journal, -wal and -shm")
      default: (.io, "")
      }
    throw PhotoIndexError(code, "cannot \(action) '\(path)': \(reason)\(remedy)")
  }

  /// The remedy for a damaged index.
  static let remedy = "delete the index and index the folder again with 'kelvin index'"

  /// The error for a file whose contents are not those of an index.
  func damaged(_ reason: String) -> PhotoIndexError {
    PhotoIndexError(.unusable, "'\(path)' is damaged: \(reason); \(Self.remedy)")
  }

  private var isCutShort: PhotoIndexError {
    PhotoIndexError(.io, "'\(path)-shm' was cut short by another program while it was in use; try again")
  }

  /// The error for work that a limit or a cancellation ended.
  var ending: PhotoIndexError { meter.ending }

  /// Allows the connection as many searches of the whole file as the user asks for.
  func allow(passes: Int) { meter.allow(passes: passes) }

  /// Counts a row of a statement's current run.
  ///
  /// - Throws: `unusable` for more rows than the file has room for: its pages refer to one another in circles.
  func count(row: Int) throws(PhotoIndexError) {
    if kelvin_sqlite_is_cut_short(handle) { throw isCutShort }
    guard row <= meter.mostRows else { throw damaged("a table has more rows than the file has room for") }
  }

  /// Prepares a statement, which can be run any number of times.
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

  /// Runs changes in one transaction.
  func transaction<Result>(_ body: () throws(PhotoIndexError) -> Result) throws(PhotoIndexError) -> Result {
    meter.restart()
    try run("BEGIN IMMEDIATE")
    do throws(PhotoIndexError) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // Fails where SQLite has already rolled back, for example because the disk is full.
      try? run("ROLLBACK")
      throw error
    }
  }

  /// Returns the first column of a query's first row; 0 without rows.
  func number(_ sql: String, _ values: SQLiteValue...) throws(PhotoIndexError) -> Int64 {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? statement.integer(0) : 0
  }

  var lastRow: Int64 { functions.last_insert_rowid(handle) }
}
