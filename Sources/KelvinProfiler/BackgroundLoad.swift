import KelvinBasics
import KelvinMeasurements

/// Other work during the measurement of a model: threads of this process, or a separate process.
package protocol BackgroundLoad: AnyObject {
  /// - Throws: when the load cannot start.
  func start() throws
  /// Stops the load, and returns when no part of it runs any more.
  func stop()
  /// Suspends the load, so that the model can be measured alone.
  func pause()
  func resume()
  /// Seconds of processor time within this process that the load used.
  var ownProcessorSeconds: Double { get }
  /// The identifiers of processes that belong to the load.
  var processes: [Int32] { get }
  /// The resources that the load used; known after it has stopped.
  var account: BackgroundLoadUsage? { get }
}

/// The resources that a background load used.
package struct BackgroundLoadUsage: Sendable, Hashable, Codable {
  /// Whether the load was a separate process.
  package var isProcess: Bool
  package var seconds: Double
  /// Seconds of processor time in user mode and in the kernel.
  package var userSeconds: Double
  package var kernelSeconds: Double
  /// Bytes read from and written to memory.
  package var memoryBytes: Double
  /// The reason for which a part of the load ended early; nil when none did.
  package var failure: String?

  package init(
    isProcess: Bool, seconds: Double, userSeconds: Double, kernelSeconds: Double, memoryBytes: Double, failure: String?
  ) {
    self.isProcess = isProcess
    self.seconds = seconds
    self.userSeconds = userSeconds
    self.kernelSeconds = kernelSeconds
    self.memoryBytes = memoryBytes
    self.failure = failure
  }

  /// The usage of a process that did nothing else: including the time of drivers' threads and of preparation.
  package var ofWholeProcess: BackgroundLoadUsage {
    let used = ProcessorTime.ofProcess
    var whole = self
    (whole.isProcess, whole.userSeconds, whole.kernelSeconds) = (true, used.user, used.kernel)
    return whole
  }

  /// A description such as `the load beside it was a process of its own: 3.02 s of processor time in 10.0 s, 1 % of it
  /// in the kernel`.
  package var description: String {
    let whole = userSeconds + kernelSeconds
    let kernel = whole > 0 ? kernelSeconds / whole : 0
    var text =
      "the background load was \(isProcess ? "a separate process" : "threads of this process"):"
      + " \(HumanReadable.seconds(whole)) of processor time in \(HumanReadable.seconds(seconds)),"
      + " \(HumanReadable.percent(kernel, decimals: 0)) of it in the kernel"
    if memoryBytes > 0, seconds > 0 {
      text += ", \(HumanReadable.significant(memoryBytes / seconds / 1e9)) GB/s to and from memory"
    }
    if let failure { text += "; \(failure)" }
    return text
  }
}
