import Glibc
import KelvinBasics
package import KelvinDevices
import KelvinMeasurements
package import KelvinPlanning

/// How far the predicted time of an inference may be off, from predictions that were compared with runs.
package struct ExpectedError: Sendable, Hashable, Encodable {
  /// The expected bound of `|measured / predicted − 1|`; nil when it is unknown.
  package var share: Double?
  /// The source of the number, or the reason why it is unknown, in words.
  package var basis: String

  package init(share: Double?, basis: String) {
    self.share = share
    self.basis = basis
  }

  /// The mark and the source, for a page.
  package var words: (mark: String, basis: String) { (mark, basis) }

  /// `± 7.0 %`, or `± unknown`.
  package var mark: String { "± " + (share.map { HumanReadable.percent($0) } ?? "unknown") }

  /// The share by which the median time of a plan differs from one quiet run of the program to another: twice the
  /// standard deviation that was measured (`bench/results/run-to-run.md`).
  private static let runToRun = 0.08
  /// Paces closer than this factor to that of the profile are equal.
  private static let samePace = 1.1

  /// Returns the error with the differences between runs, and wide enough for inferences that slow down with the
  /// processors and for those that do not.
  ///
  /// - Parameter pace: the present pace of the processors, divided by that of the profile; nil if it has no effect or
  ///   is unknown.
  func widened(pace: Double?) -> ExpectedError {
    guard let share else { return self }
    let quiet = hypot(share, Self.runToRun)
    var basis = basis + ", and \(HumanReadable.percent(Self.runToRun)) from run to run"
    guard let pace, pace > 0, max(pace, 1 / pace) > Self.samePace else {
      return ExpectedError(share: quiet, basis: basis)
    }
    basis += "; the processors advance at \(HumanReadable.significant(pace)) × the pace of the profile now"
    return ExpectedError(share: pace < 1 ? (1 + quiet) / pace - 1 : 1 - (1 - quiet) / pace, basis: basis)
  }
}

extension CostSheet {
  /// Returns how far a plan's predicted time may be off: the errors of measured and of estimated costs, each in
  /// proportion to its seconds. A guessed cost leaves it unknown.
  ///
  /// - Parameters:
  ///   - explanation: the explanation of a plan of the same problem.
  ///   - devices: the devices of the problem.
  ///   - model: the profile key of the model.
  ///   - pace: the present pace of the processors with this many threads, in steps per second; nil if it is that of the
  ///     profile.
  package func expectedError(
    of solution: PlanSolution, in explanation: PlanExplanation, devices: [DeviceInfo], model: String, threads: Int,
    pace: Double? = nil
  ) -> ExpectedError {
    let computesHere = devices.contains { solution.placement.values.contains($0.id) && $0.resource == "cpu" }
    let usual = computesHere ? profile?.pace[threads] : nil
    return quietError(of: solution, in: explanation, devices: devices, model: model, threads: threads)
      .widened(pace: usual.flatMap { usual in pace.map { $0 / usual } })
  }

  /// Returns the error of predictions that were compared with runs beside the measurements.
  private func quietError(
    of solution: PlanSolution, in explanation: PlanExplanation, devices: [DeviceInfo], model: String, threads: Int
  ) -> ExpectedError {
    let infos = Dictionary(devices.map { ($0.id, $0) }) { first, _ in first }
    let isSingle = explanation.singleDevices.contains { $0.solution.placement == solution.placement }
    var measured = 0.0
    var estimated: [String: Double] = [:]
    for node in explanation.nodes {
      guard let device = solution.placement[node.node],
        let candidate = node.candidates.first(where: { $0.device == device }), let seconds = candidate.seconds
      else { continue }
      if candidate.source == .measured { measured += seconds } else { estimated[device, default: 0] += seconds }
    }
    for copy in solution.transfers where copy.seconds > 0 {
      guard profile?.transfer(from: copy.from, to: copy.to) != nil else {
        return ExpectedError(share: nil, basis: "the cost of copies from \(copy.from) to \(copy.to) is a guess")
      }
      measured += copy.seconds
    }
    let total = measured + estimated.values.reduce(0, +)
    guard total > 0 else { return ExpectedError(share: 0, basis: "no cost is predicted") }
    var (sum, reasons) = (0.0, [String]())
    if measured > 0 {
      guard let (error, basis) = observed(model: model, isSingle: isSingle) else {
        return ExpectedError(share: nil, basis: "no prediction from these measurements was compared with a run")
      }
      sum += error * measured
      reasons.append(basis)
    }
    for (device, seconds) in estimated.sorted(by: { $0.key < $1.key }) where seconds > 0 {
      let basis = infos[device].map { self.basis(of: $0, threads: threads) }
      guard let error = basis?.error else {
        return ExpectedError(share: nil, basis: "the error of estimates for \(device) is unknown")
      }
      sum += error * seconds
      reasons.append("the median error of estimates for \(device)")
    }
    return ExpectedError(share: sum / total, basis: reasons.joined(separator: ", and "))
  }

  /// Returns the largest error of predictions of this kind of plan: of the model's own, else the median of other
  /// models' largest errors. Nil if none were compared with runs.
  private func observed(model: String, isSingle: Bool) -> (error: Double, basis: String)? {
    let kind = isSingle ? "one device" : "several devices"
    func accuracy(_ model: ModelAccuracy) -> PredictionAccuracy? { isSingle ? model.single : model.mixed }
    if let own = profile?.accuracy[model].flatMap(accuracy) {
      let plans = own.plans == 1 ? "1 plan" : "\(own.plans) plans"
      return (own.largest, "the largest error of \(plans) of \(kind), predicted and run by 'kelvin profile'")
    }
    let others = (profile?.accuracy.values.compactMap(accuracy) ?? []).map(\.largest).sorted()
    guard !others.isEmpty else { return nil }
    let models = others.count == 1 ? "1 other model" : "\(others.count) other models"
    return (others[(others.count - 1) / 2], "the largest error of plans of \(kind), the median of \(models)")
  }
}

extension EstimateBasis {
  /// The error to expect here; nil if it is unknown.
  fileprivate var error: Double? {
    switch kind {
    case .fitted: leaveOneOutError
    case .shipped: errorElsewhere
    case .guess: nil
    }
  }
}
