import KelvinBasics
import KelvinDevices
package import KelvinGraph
package import KelvinPlanning
package import KelvinRuntime
package import KelvinThermal

/// One way to compile a model for a stream: a placement, the CPU device's threads, and a precision.
package struct StreamVariant: Sendable, Hashable {
  /// What the way differs in from the preferred one.
  package enum Change: Sendable, Hashable {
    case none, plan, threads, precision
  }

  /// As people know it: `as planned`, `only cpu`, `1 CPU thread`, `precision low`.
  package var label: String
  package var change: Change
  package var solution: PlanSolution
  package var threads: Int
  package var precision: Precision
  /// By device, the share of the nodes' time by what the plan knows of their costs.
  package var shares: [String: Double]

  /// Joules of a frame above idle where nothing measures them: what is at work draws its part of the envelope's range,
  /// the CPU device by its threads, any other device all of it.
  ///
  /// - Parameter cores: of the machine that the envelope stands for.
  package func estimatedJoules(seconds: Double, host: String, cores: Int, on envelope: ThermalEnvelope) -> Double {
    let width = min(1, Double(threads) / Double(max(cores, 1)))
    let busy = shares.reduce(0) { $0 + $1.value * ($1.key == host ? width : 1) }
    return seconds * (shares.isEmpty ? 1 : busy) * (envelope.fullLoadWatts - envelope.idleWatts)
  }

  /// Where such an estimate comes from, in words.
  package static func estimateSource(_ envelope: ThermalEnvelope) -> String {
    "estimated: time at work × the envelope \"\(envelope.name)\", the CPU's by its threads"
  }
}

extension ModelContext {
  /// The ways in which a stream may be answered: the plan first, then those that may take less energy. Which do is for a
  /// trial to say.
  ///
  /// - Parameters:
  ///   - explanation: of the plan that is preferred.
  ///   - precision: that was asked for; a lower one is only tried where it was left to Kelvin and a device tells the two
  ///     apart.
  ///   - threads: of the CPU device.
  package func streamVariants(
    _ explanation: PlanExplanation, precision: Precision, threads: Int
  ) throws(RuntimeError) -> [StreamVariant] {
    let base = StreamVariant(
      label: "as planned", change: .none, solution: explanation.solution, threads: threads, precision: precision,
      shares: explanation.deviceShares(explanation.solution))
    var variants = [base]
    for (label, solution) in explanation.alternatives(without: inventory.reference?.info.id) {
      var variant = base
      (variant.label, variant.change, variant.solution) = (label, .plan, solution)
      variant.shares = explanation.deviceShares(solution)
      variants.append(variant)
    }
    if explanation.solution.placement.values.contains(inventory.host.info.id) {
      var fewer = threads / 2
      while fewer >= 1 {
        var variant = base
        (variant.label, variant.change) = (fewer == 1 ? "1 CPU thread" : "\(fewer) CPU threads", .threads)
        variant.threads = fewer
        variants.append(variant)
        fewer /= 2
      }
    }
    if precision == .automatic,
      try node(tellingApart: .automatic, .low, placement: explanation.solution.placement) != nil
    {
      var variant = base
      (variant.label, variant.change, variant.precision) = ("precision low", .precision, .low)
      variants.append(variant)
    }
    return variants
  }
}

extension PlanExplanation {
  /// Each device alone, and of the other plans the one that is expected to take least energy.
  ///
  /// - Parameter reference: the device that defines results and is too slow for any stream.
  fileprivate func alternatives(without reference: String?) -> [(label: String, solution: PlanSolution)] {
    func isNew(_ other: PlanSolution) -> Bool { other.placement != solution.placement }
    let singles = singleDevices.filter { isNew($0.solution) && $0.device != reference }.map {
      (label: "only \($0.device)", solution: $0.solution)
    }
    let mixes = ranked.filter { plan in
      isNew(plan.solution) && !singles.contains { $0.solution.placement == plan.solution.placement }
    }
    let leanest = mixes.min { ($0.solution.joules ?? .infinity) < ($1.solution.joules ?? .infinity) }
    return singles + (leanest.map { [($0.label, $0.solution)] } ?? [])
  }

  /// By device, the share of the nodes' seconds under a placement.
  package func deviceShares(_ solution: PlanSolution) -> [String: Double] {
    var seconds: [String: Double] = [:]
    for node in nodes {
      guard let device = solution.placement[node.node] else { continue }
      seconds[device, default: 0] += node.candidates.first { $0.device == device }?.seconds ?? 0
    }
    let sum = seconds.values.reduce(0, +)
    return sum > 0 ? seconds.mapValues { $0 / sum } : [:]
  }
}
