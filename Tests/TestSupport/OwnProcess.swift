import Glibc
package import Testing

/// The resources of a test's process, including all its threads.
///
/// Every suite that runs at the same time shares the process, so a test may measure it only in its own child process:
///
///     await #expect(processExitsWith: .success) {
///       let process = OwnProcess()
///       …
///       #expect(process.residentByteCount < 64 << 20)
///     }
///
/// Failures in the child fail the test.
package struct OwnProcess {
  /// Records a failure where the test runs among others.
  package init(sourceLocation: SourceLocation = #_sourceLocation) {
    if ExitTest.current == nil {
      Issue.record(
        "a process that other tests share is measured; do it inside #expect(processExitsWith: .success) { … }",
        sourceLocation: sourceLocation)
    }
  }

  /// Bytes of memory held now; 0 under ThreadSanitizer, whose shadow of the memory only grows.
  package var residentByteCount: Int { status("VmRSS") }

  /// The most bytes of memory held at one time until now; 0 under ThreadSanitizer.
  package var peakByteCount: Int { status("VmHWM") }

  /// Seconds that processors spent on this process until now.
  package var processorSeconds: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
  }

  /// Files, sockets and the like that are open now.
  package var descriptorCount: Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // The folder itself, "." and "..".
    return count - 3
  }

  /// Threads now, drivers' own included.
  package var threadCount: Int { status("Threads") / 1024 }

  /// A line of `/proc/self/status`, in bytes. (`ru_maxrss` would begin with what the parent holds.)
  private func status(_ key: String) -> Int {
    guard Sanitizer.current != .thread, let file = fopen("/proc/self/status", "re") else { return 0 }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 256)
    while fgets(&buffer, 256, file) != nil {
      let line = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      guard line.hasPrefix("\(key):") else { continue }
      return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
    return 0
  }
}

/// Checks that a process does not grow beyond a bound, whatever its input.
package struct MemoryWatch {
  private let process: OwnProcess
  private let start: Int
  private let limit: Int
  private var largest = 0

  /// - Parameter limit: bytes by which the process may grow from now on.
  package init(limit: Int = 256 << 20, sourceLocation: SourceLocation = #_sourceLocation) {
    process = OwnProcess(sourceLocation: sourceLocation)
    start = process.residentByteCount
    self.limit = limit
  }

  package mutating func look() { largest = max(largest, process.residentByteCount - start) }

  /// Whether the process was within the bound at every check.
  package var isBounded: Bool { largest < limit }
}
