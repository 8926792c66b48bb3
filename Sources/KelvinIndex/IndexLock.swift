import Glibc
import KelvinBasics
import KelvinFeatures

/// A lock that only one process can hold while it updates an index. The system releases the lock when the process ends
/// for any reason.
final class IndexLock {
  private let descriptor: Int32
  private static let interval: UInt32 = 100_000

  /// Acquires the lock, and waits while another process holds it.
  ///
  /// - Parameters:
  ///   - path: The path of a lock file next to the index, which is never removed.
  ///   - waiting: Called once where another process holds the lock, with its identifier where known.
  /// - Throws: `io`; `unusable` for a link; `cancelled` where waiting was cancelled.
  init(
    _ path: String, waiting: (Int?) -> Void, isCancelled: () -> Bool
  ) throws(PhotoIndexError) {
    descriptor = open(path.pathBytes, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else {
      let remedy = [EACCES, EROFS].contains(errno) ? "; name an index elsewhere with --index" : ""
      throw PhotoIndexError(.io, "\(FileError(path: path, action: "write", code: errno))\(remedy)")
    }
    // The file is overwritten, so it must not be another name of a file elsewhere.
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      throw PhotoIndexError(
        .unusable, "'\(path)' is not used as a lock: it is not a regular file with one name; remove it and try again")
    }
    var hasSaid = false
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw PhotoIndexError(.io, "\(FileError(path: path, action: "lock", code: errno))")
      }
      if isCancelled() { throw PhotoIndexError(.cancelled, "another process was indexing the folder") }
      if !hasSaid { waiting(Self.owner(descriptor)) }
      hasSaid = true
      usleep(Self.interval)
    }
    let text = Array("\(getpid())\n".utf8)
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
  }

  deinit { close(descriptor) }

  private static func owner(_ descriptor: Int32) -> Int? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Int(String(decoding: bytes.prefix(max(count, 0)).prefix { $0 != 0x0A }, as: UTF8.self))
  }
}
