import KelvinBasics
import KelvinMeasurements

/// Somebody else at work while a model is measured: threads of this process, or a process of its own.
package protocol BackgroundLoad: AnyObject {
  /// - Throws: where it cannot begin.
  func start() throws
  /// Returns when nothing of it runs any more.
  func stop()
  /// Holds its work for a while, so that the model can be measured alone.
  func pause()
  func resume()
  /// Processor time within this process that is not the model's, in seconds.
  var ownProcessorSeconds: Double { get }
  /// Processes whose time is not a stranger's.
  var processes: [Int32] { get }
  /// What it did, and how: known once it has stopped.
  var account: BackgroundLoadUsage? { get }
}

/// What a neighbour did.
package struct BackgroundLoadUsage: Sendable, Hashable, Codable {
  /// Whether it was a process of its own.
  package var isProcess: Bool
  package var seconds: Double
  /// Processor time in its own code and in the kernel's, in seconds.
  package var userSeconds: Double
  package var kernelSeconds: Double
  /// Bytes that went to or came from memory.
  package var memoryBytes: Double
  /// Why a part of it ended early; nil where nothing did.
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

  /// The same of a process that did nothing else: with what drivers' threads took for it, and what getting ready took.
  package var ofWholeProcess: BackgroundLoadUsage {
    let used = ProcessorTime.ofProcess
    var whole = self
    (whole.isProcess, whole.userSeconds, whole.kernelSeconds) = (true, used.user, used.kernel)
    return whole
  }

  /// `the load beside it was a process of its own: 3.02 s of processor time in 10.0 s, 1 % of it in the kernel`.
  package var description: String {
    let whole = userSeconds + kernelSeconds
    let kernel = whole > 0 ? kernelSeconds / whole : 0
    var text =
      "the load beside it was \(isProcess ? "a process of its own" : "threads of this process"):"
      + " \(HumanReadable.seconds(whole)) of processor time in \(HumanReadable.seconds(seconds)),"
      + " \(HumanReadable.percent(kernel, decimals: 0)) of it in the kernel"
    if memoryBytes > 0, seconds > 0 {
      text += ", \(HumanReadable.significant(memoryBytes / seconds / 1e9)) GB/s to and from memory"
    }
    if let failure { text += "; \(failure)" }
    return text
  }
}
