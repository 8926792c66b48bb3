import Glibc

/// A failure of a worker, or of a request to it.
package struct WorkerFailure: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// No worker can be started, or it cannot restrict itself.
    case unavailable
    /// The worker ended before it answered.
    case crashed
    /// The worker reached a limit of time or memory.
    case limit
    /// The worker's answer breaks the rules of the messages.
    case invalidAnswer
  }

  package let kind: Kind
  package let reason: String
  package let remedy: String?

  package init(_ kind: Kind, _ reason: String, remedy: String? = nil) {
    self.kind = kind
    self.reason = reason
    self.remedy = remedy
  }

  package static let invalidAnswer = WorkerFailure(
    .invalidAnswer, "the worker's answer is invalid, so the file may have taken control of the worker")

  /// - Parameter code: An error number.
  static func unavailable(_ action: String, _ code: Int32) -> WorkerFailure {
    WorkerFailure(.unavailable, "no worker can be started: \(action): \(String(cString: strerror(code)))")
  }

  /// Describes the end of a worker that has not answered.
  ///
  /// - Parameter status: The status from `waitpid`; nil if it is unknown.
  static func ended(_ status: Int32?, _ limits: WorkerLimits) -> WorkerFailure {
    guard let status else { return WorkerFailure(.crashed, "the worker that read it ended") }
    let (signal, code) = (status & 0x7F, (status >> 8) & 0xFF)
    if signal == SIGXCPU {
      return WorkerFailure(.limit, "the worker took more than \(limits.seconds) seconds of processor time")
    }
    if signal == 0, code == WorkerLimits.outOfMemoryStatus {
      return WorkerFailure(.limit, "the worker took more memory than \(limits.memoryBytes >> 20) MiB")
    }
    let end = signal == 0 ? "ended with status \(code)" : "crashed: \(String(cString: strsignal(signal)))"
    return WorkerFailure(.crashed, "the worker that read it \(end)")
  }
}

/// The limits of a worker.
package struct WorkerLimits: Hashable, Sendable {
  /// The exit status of a worker that ran out of memory (`EX_SOFTWARE`).
  package static let outOfMemoryStatus: Int32 = 70

  /// The bytes by which the worker's private memory may grow. Pages of mapped files do not count.
  package var memoryBytes = 4 << 30
  /// The processor time and the elapsed time of each request.
  package var seconds = 120

  package init() {}
}
