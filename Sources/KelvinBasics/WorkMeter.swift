import Glibc

/// What a process has taken, as a budget reads it.
package struct WorkMeter: Sendable {
  /// Seconds from some point on.
  package var seconds: @Sendable () -> Double
  /// Bytes of memory of the process's own that it holds: pages of files that are mapped are left out.
  package var bytes: @Sendable () -> Int

  package init(seconds: @escaping @Sendable () -> Double, bytes: @escaping @Sendable () -> Int) {
    self.seconds = seconds
    self.bytes = bytes
  }

  /// This process.
  package static let process = WorkMeter(
    seconds: {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }, bytes: residentByteCount)

  /// `/proc/self/statm` counts pages: all there are, those resident, and of these the shared ones. 0 where it cannot be
  /// read.
  @Sendable private static func residentByteCount() -> Int {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { text in
      let count = read(file, text.baseAddress, text.count)
      guard count > 0 else { return 0 }
      let pages = text[..<count].split(separator: UInt8(ascii: " ")).prefix(3).map { digits in
        digits.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
      }
      return pages.count == 3 ? max(0, pages[1] - pages[2]) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }
  }
}
