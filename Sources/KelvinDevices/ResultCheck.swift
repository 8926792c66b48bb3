import Synchronization

/// The checks of a device's results while the process uses it (`Canary`), shared by all models.
///
/// A check is due after the device's first prediction, after every anomaly, and when predictions have taken so long since
/// the last check that a check is at most `share` of their time.
package final class ResultCheck: Sendable {
  /// The largest share of the time of predictions.
  package static let share = 0.005

  private struct Progress {
    /// Whether the device has passed a check, and has not had an anomaly since.
    var isTrusted = false
    /// The seconds of the predictions since the latest check, and of the fastest check.
    var seconds = 0.0
    var cost = Double.infinity
    /// The predictions since the latest check, by the account of their model.
    var unchecked: [ObjectIdentifier: (account: PredictionAccount, numbers: ClosedRange<Int>)] = [:]
  }

  private let progress = Mutex(Progress())

  package init() {}

  /// Requests a check after the prediction that is running, because of an anomaly such as a slow submission.
  package func doubt() { progress.withLock { $0.isTrusted = false } }

  /// Records a prediction that has ended, and checks the device if a check is due.
  ///
  /// - Parameters:
  ///   - number: the number of the prediction in its model's account.
  ///   - seconds: how long the prediction took.
  ///   - check: checks the device (`CanaryCheck.run`).
  /// - Throws: `.wrong` if the device computes wrongly: the predictions since the latest check are doubtful then, except
  ///   the recorded one, whose caller has no result yet; other failures of the device.
  package func ended(
    _ number: Int, of account: PredictionAccount, seconds: Double, check: () throws(DeviceError) -> Double
  ) throws(DeviceError) {
    let isDue = progress.withLock { progress in
      progress.seconds += seconds
      return !progress.isTrusted || progress.seconds * Self.share >= progress.cost
    }
    if isDue { try run(check) }
    progress.withLock { progress in
      guard !isDue || progress.seconds > 0 else { return }
      let known = progress.unchecked[ObjectIdentifier(account)]?.numbers ?? number...number
      progress.unchecked[ObjectIdentifier(account)] = (
        account, min(known.lowerBound, number)...max(known.upperBound, number)
      )
    }
  }

  /// Checks the device if predictions have ended since the latest check.
  ///
  /// - Throws: as `ended` does.
  package func checkLast(_ check: () throws(DeviceError) -> Double) throws(DeviceError) {
    if progress.withLock({ !$0.unchecked.isEmpty }) { try run(check) }
  }

  private func run(_ check: () throws(DeviceError) -> Double) throws(DeviceError) {
    do throws(DeviceError) {
      let cost = try check()
      progress.withLock { $0 = Progress(isTrusted: true, cost: cost) }
    } catch {
      guard error.code == .wrong else {
        // A check that cannot run says nothing about results.
        guard !error.takesDeviceOut else { throw error }
        return progress.withLock { progress in (progress.isTrusted, progress.seconds) = (true, 0) }
      }
      for (account, numbers) in progress.withLock({ $0.unchecked.values.map { ($0.account, $0.numbers) } }) {
        account.doubt(numbers, error)
      }
      progress.withLock { $0.unchecked = [:] }
      throw error
    }
  }
}

/// The predictions of one model, numbered from 1 in the order in which they end, and those whose results are doubtful.
package final class PredictionAccount: Sendable {
  private struct State {
    var count = 0
    var doubts: [(numbers: ClosedRange<Int>, failure: DeviceError)] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// The number of predictions that have ended.
  package var count: Int { state.withLock { $0.count } }

  /// The doubtful predictions, and the failures of their devices.
  package var doubts: [(numbers: ClosedRange<Int>, failure: DeviceError)] { state.withLock { $0.doubts } }

  /// Returns the number of the next prediction.
  package func next() -> Int {
    state.withLock { state in
      state.count += 1
      return state.count
    }
  }

  func doubt(_ numbers: ClosedRange<Int>, _ failure: DeviceError) {
    state.withLock { $0.doubts.append((numbers, failure)) }
  }
}
