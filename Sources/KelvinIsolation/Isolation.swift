import Glibc
import Synchronization

/// The process in which image files and models are decoded first.
///
/// A worker is a child process that may not open files, start processes or use the network. A file that makes a decoder
/// crash, hang or take too much memory ends the worker, and the caller gets an error.
///
/// ```swift
/// Isolation.standard = .worker
/// let image = try ImageCodec.decode(path: "from-a-stranger.heic")
/// ```
///
/// The worker is the program `kelvin`: the file that the environment variable `KELVIN_PROGRAM` names, else a file
/// beside this program or library, or in `bin` beside its `lib`.
public enum Isolation: String, Hashable, Sendable, CaseIterable {
  /// Files are decoded in this process.
  case none
  /// Images are decoded in a worker. A model is read in a worker first, and then in this process if that succeeded.
  case worker

  /// A value of the environment other than `none` isolates, so that a misspelled one does not weaken the process.
  private static let chosen = Mutex(
    getenv("KELVIN_ISOLATION").map { String(cString: $0) == "none" ? Isolation.none : .worker } ?? .none)

  /// The isolation of images, and the default of new model configurations, in this process. Initially ``none``, unless
  /// the environment variable `KELVIN_ISOLATION` is `worker`.
  public static var standard: Isolation {
    get { chosen.withLock(\.self) }
    set { chosen.withLock { $0 = newValue } }
  }
}
