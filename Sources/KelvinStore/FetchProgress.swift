import KelvinBasics
import Synchronization

/// The progress of fetching models.
public struct FetchProgress: Hashable, Sendable {
  /// The number of bytes that have arrived, also in earlier downloads that were broken off.
  public let receivedByteCount: Int
  /// The number of bytes to arrive in total; nil if the server does not say.
  public let totalByteCount: Int?
  /// The number of bytes per second since this download began; nil in the first moment.
  public let bytesPerSecond: Double?
  /// The estimated remaining time; nil if it cannot be estimated.
  public var secondsLeft: Double? {
    guard let totalByteCount, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    return Double(max(0, totalByteCount - receivedByteCount)) / bytesPerSecond
  }
  /// The finished fraction, 0…1; nil if the total is not known.
  public var fractionCompleted: Double? {
    totalByteCount.map { $0 > 0 ? min(1, Double(receivedByteCount) / Double($0)) : 1 }
  }

  /// Returns the progress as a part of several downloads.
  func within(before: Int, total: Int) -> FetchProgress {
    FetchProgress(
      receivedByteCount: before + receivedByteCount, totalByteCount: total, bytesPerSecond: bytesPerSecond)
  }
}

/// Reports the progress of a download at most ten times each second.
final class FetchMeter: Sendable {
  private struct State {
    var began = ContinuousClock.now
    var last: ContinuousClock.Instant?
    var atStart = 0
    var total: Int?
  }

  private let state = Mutex(State())
  private let report: @Sendable (FetchProgress) -> Void
  private let isCancelled: @Sendable () -> Bool

  init(isCancelled: @escaping @Sendable () -> Bool, report: @escaping @Sendable (FetchProgress) -> Void) {
    (self.isCancelled, self.report) = (isCancelled, report)
  }

  func continues() -> Bool { !isCancelled() }

  /// Begins a download that has some bytes already.
  func begin(received: Int, total: Int?) {
    state.withLock { $0 = State(atStart: received, total: total) }
    update(received)
  }

  func update(_ received: Int) {
    let now = ContinuousClock.now
    let progress = state.withLock { state -> FetchProgress? in
      let isEnd = received == state.total
      if let last = state.last, now - last < .milliseconds(100), !isEnd { return nil }
      state.last = now
      let seconds = (now - state.began).inSeconds
      return FetchProgress(
        receivedByteCount: received, totalByteCount: state.total,
        bytesPerSecond: seconds > 0.1 ? Double(received - state.atStart) / seconds : nil)
    }
    if let progress { report(progress) }
  }
}
