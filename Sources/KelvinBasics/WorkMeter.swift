import Glibc

/// The time and memory use of a process, as a budget measures them.
package struct WorkMeter: Sendable {
  /// Returns the seconds since a fixed moment.
  package var seconds: @Sendable () -> Double
  /// Returns the bytes of resident private memory, without pages of mapped files.
  package var bytes: @Sendable () -> Int

  package init(seconds: @escaping @Sendable () -> Double, bytes: @escaping @Sendable () -> Int) {
    self.seconds = seconds
    self.bytes = bytes
  }

  /// The meter of this process.
  package static let process = WorkMeter(
    seconds: {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }, bytes: residentByteCount)

  /// Reads `/proc/self/statm`, which counts pages: total, resident, and the shared ones among the latter. 0 if it
  /// cannot be read.
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
