import Glibc

/// The time a process waits for a lock that another one holds. If a lock is not released in time, the process
/// continues without the cache.
package struct LockTimeout: Sendable {
  package var limit: Duration
  private let pause: @Sendable (Duration) -> Void
  private static let shortest = Duration.milliseconds(1)
  private static let longest = Duration.milliseconds(50)

  /// - Parameter pause: waits for a duration.
  package init(
    limit: Duration = .seconds(10),
    pause: @escaping @Sendable (Duration) -> Void = { usleep(UInt32($0 / .microseconds(1))) }
  ) {
    self.limit = limit
    self.pause = pause
  }

  /// Locks a file exclusively.
  ///
  /// - Returns: 0; `EWOULDBLOCK` if another process held the lock until the timeout; the system's error code if the
  ///   file cannot be locked.
  func lock(_ file: Int32) -> Int32 {
    var waited = Duration.zero
    var next = Self.shortest
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      guard code == EWOULDBLOCK, waited < limit else { return code }
      pause(next)
      waited += next
      next = min(next * 2, Self.longest)
    }
    return 0
  }

  /// Returns the process that holds a lock on a file, if the system reports it.
  static func holder(_ file: Int32) -> Int? {
    var status = stat()
    guard fstat(file, &status) == 0, let locks = fopen("/proc/locks", "r") else { return nil }
    defer { fclose(locks) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), locks) != nil {
      // Example: 1: FLOCK  ADVISORY  WRITE 4242 fd:00:1835 0 EOF
      let text = line.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(status.st_ino)") else { continue }
      return Int(words[4])
    }
    return nil
  }
}
