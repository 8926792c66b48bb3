import Glibc
import KelvinBasics
import KelvinFeatures

/// Ends the statements of a connection when a limit of time or memory is reached, the task is cancelled, or they take
/// more steps than a valid file of this size can need.
///
/// The number of rows that a crafted file claims to have can be exponential in its size, because its pages may refer to
/// one page many times.
final class StepMeter {
  /// The number of SQLite's instructions between two checks.
  static let interval: Int32 = 10_000

  private let path: String
  private var size: Int
  private var steps = 0
  private var passes = 1

  /// - Parameter path: The path of the file; its write-ahead log is beside it.
  init(_ path: String) {
    self.path = path
    size = Self.size(of: path)
  }

  /// The instructions that are allowed in files of any size.
  private static let freeSteps = 100_000_000
  /// A row takes about ten instructions, and at least four bytes of each tree that it is in.
  private static let stepsPerByte = 16
  private static let bytesPerRow = 4

  /// The largest number of rows that a table of the file can have.
  var mostRows: Int { size / Self.bytesPerRow + 1000 }

  /// Starts to count for more work, as every transaction of a writer does.
  func restart() {
    size = Self.size(of: path)
    steps = 0
  }

  /// Allows as many searches of the whole file.
  func allow(passes: Int) { self.passes = max(self.passes, passes) }

  private var isExhausted: Bool {
    let (allowed, overflow) = (size &* Self.stepsPerByte).multipliedReportingOverflow(by: passes)
    return !overflow && steps > Self.freeSteps + allowed
  }

  /// The answer of the progress handler: other than zero to end the statement.
  static func ends(_ meter: UnsafeMutableRawPointer?) -> Int32 {
    guard let meter else { return 0 }
    let own = Unmanaged<StepMeter>.fromOpaque(meter).takeUnretainedValue()
    own.steps += Int(interval)
    return own.isExhausted || WorkBudget.isSpent || Task.isCancelled ? 1 : 0
  }

  /// The reason for which a statement was ended.
  var ending: PhotoIndexError {
    if let excess = WorkBudget.current?.excess { return PhotoIndexError(.cancelled, excess.description) }
    if Task.isCancelled { return PhotoIndexError(.cancelled, "the search of '\(path)' was cancelled") }
    return PhotoIndexError(
      .unusable,
      "'\(path)' is damaged: a search takes more steps than an index of \(HumanReadable.bytes(size)) can need; "
        + Database.remedy)
  }

  /// The number of bytes in the file and its log. Of a file with holes, the part that is stored counts.
  private static func size(of path: String) -> Int {
    ["", "-wal"].reduce(0) { sum, ending in
      var status = stat()
      guard stat((path + ending).pathBytes, &status) == 0 else { return sum }
      // A file system may compress, or not count blocks.
      let stored = status.st_blocks > 0 ? Int(status.st_blocks) &* 512 &* mostCompression : .max
      return sum + min(max(Int(status.st_size), 0), max(stored, 0), largest)
    }
  }

  private static let mostCompression = 16
  private static let largest = 1 << 48
}
