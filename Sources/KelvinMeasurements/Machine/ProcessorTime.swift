import Glibc

/// Processor time in seconds.
package struct ProcessorTime: Sendable, Hashable {
  package var user: Double
  package var kernel: Double

  package init(user: Double = 0, kernel: Double = 0) {
    self.user = user
    self.kernel = kernel
  }

  package var seconds: Double { user + kernel }

  /// The time of this process, including its ended threads and excluding its children.
  package static var ofProcess: ProcessorTime { ProcessorTime(of: RUSAGE_SELF.rawValue) }

  /// The time of the calling thread.
  package static var ofThread: ProcessorTime { ProcessorTime(of: Self.thread) }

  /// `RUSAGE_THREAD`, a GNU extension.
  private static let thread: Int32 = 1

  private init(of whose: Int32) {
    var usage = rusage()
    getrusage(__rusage_who_t(whose), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
    self.init(user: seconds(usage.ru_utime), kernel: seconds(usage.ru_stime))
  }

  package static func + (a: ProcessorTime, b: ProcessorTime) -> ProcessorTime {
    ProcessorTime(user: a.user + b.user, kernel: a.kernel + b.kernel)
  }
}
