import KelvinEngine
public import KelvinFeatures
import KelvinRuntime

extension Model {
  /// The number of predictions that have ended. Predictions are numbered from 1 in the order in which they end.
  public var predictionCount: Int { loaded.guardian.count }

  /// The numbers of the predictions whose results may be wrong.
  ///
  /// A device that turns out to compute wrongly (``ModelConfiguration/checksDevices``) makes all results since its latest
  /// passed check doubtful. The prediction that ended just before the check is repeated without the device, and is not
  /// doubtful. ``remarks`` say the same in words.
  public var doubtfulPredictions: [ClosedRange<Int>] { loaded.guardian.doubtful }

  /// Checks the devices of this process that have predicted since their latest check. Blocks the calling thread.
  ///
  /// Call it after the last prediction: if it returns, the devices have computed a known result correctly since then.
  ///
  /// - Throws: `ModelError` with code `device` if a device computes wrongly or has failed; ``doubtfulPredictions`` then
  ///   lists the results in question.
  public func checkDevices() throws(ModelError) {
    try ModelError.wrapping { try loaded.guardian.checkLast() }
  }
}

/// The models of a command, whose devices are checked before it ends.
package enum ModelsOfProcess {
  /// Keeps the models that are loaded from now on, until the process ends.
  package static func keep() { ResultGuard.keepAll() }

  /// Checks the devices that have predicted since their latest check.
  ///
  /// - Returns: messages about failed devices and doubtful predictions, and whether predictions are doubtful.
  package static func finish() -> (remarks: [String], isDoubtful: Bool) {
    for kept in ResultGuard.all { try? kept.checkLast() }
    let all = ResultGuard.all
    return (all.flatMap { $0.remarks + $0.fallback.remarks }.uniqued, all.contains { !$0.doubtful.isEmpty })
  }
}
