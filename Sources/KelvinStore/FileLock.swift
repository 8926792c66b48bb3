import Glibc
import KelvinBasics

/// A lock on a file or folder, held until the object is released. The system releases it when the process ends, however
/// it ends. Two locks of one process exclude each other like those of two processes.
final class FileLock: Sendable {
  /// The locked file.
  let descriptor: Int32
  private static let longestPause: UInt32 = 50_000

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Locks a file, which is created if it is missing, and waits while another holds it.
  ///
  /// - Parameters:
  ///   - wait: Called while another holds the lock. If it returns false, the wait ends.
  /// - Throws: `cancelled` if the wait ended.
  static func take(_ path: String, wait: () -> Bool) throws(StoreError) -> FileLock {
    var pause: UInt32 = 1000
    while true {
      if let lock = try taken(path) { return lock }
      guard wait() else {
        throw StoreError(.cancelled, "the request was cancelled while another process held '\(path)'")
      }
      usleep(pause)
      pause = min(pause * 2, longestPause)
    }
  }

  /// Locks a file, which is created if it is missing.
  ///
  /// - Returns: Nil if another holds the lock.
  static func taken(_ path: String) throws(StoreError) -> FileLock? {
    while true {
      let file = open(path.pathBytes, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw StoreError(FileError(path: path, action: "open", code: errno)) }
      let lock = FileLock(file)
      guard try lock.hold(LOCK_EX, path) else { return nil }
      // The last holder may have removed the file after it was opened here.
      if lock.isAt(path) { return lock }
    }
  }

  /// Locks a file or folder that exists.
  ///
  /// - Parameter isShared: Whether others may hold it shared at the same time.
  /// - Returns: Nil if another holds the lock, or nothing is at the path.
  static func existing(_ path: String, isShared: Bool = false) throws(StoreError) -> FileLock? {
    let file = open(path.pathBytes, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw StoreError(FileError(path: path, action: "open", code: errno))
    }
    let lock = FileLock(file)
    guard try lock.hold(isShared ? LOCK_SH : LOCK_EX, path), lock.isAt(path) else { return nil }
    return lock
  }

  private func hold(_ kind: Int32, _ path: String) throws(StoreError) -> Bool {
    while flock(descriptor, kind | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw StoreError(FileError(path: path, action: "lock", code: errno)) }
    }
    return true
  }

  private func isAt(_ path: String) -> Bool {
    var (own, there) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && lstat(path.pathBytes, &there) == 0 && own.st_ino == there.st_ino
      && own.st_dev == there.st_dev
  }
}
