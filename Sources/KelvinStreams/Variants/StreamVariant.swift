import KelvinBasics
import KelvinDevices
package import KelvinGraph
package import KelvinPlanning
package import KelvinRuntime
package import KelvinThermal

/// A variant of a model's compilation for a stream: a placement, the CPU device's threads, a precision, and the size of
/// its input.
package struct StreamVariant: Sendable, Hashable {
  /// The difference from the preferred variant.
  package enum Change: Sendable, Hashable {
    case none, plan, threads, precision, input
  }

  /// The label for people: `as planned`, `only cpu`, `1 CPU thread`, `precision low`, `input 160 x 160`.
  package var label: String
  package var change: Change
  package var solution: PlanSolution
  package var threads: Int
  package var precision: Precision
  /// The size of the images that the model sees; nil for the usual one.
  package var imageSize: ImageFeature.Size?
  /// By device, the share of the nodes' time according to the plan's costs.
  package var shares: [String: Double]

  /// Estimates the joules of a frame above idle: a device at work draws the envelope's range, the CPU device in
  /// proportion to its threads.
  ///
  /// - Parameter cores: the cores of the machine that the envelope describes.
  package func estimatedJoules(seconds: Double, host: String, cores: Int, on envelope: ThermalEnvelope) -> Double {
    let width = min(1, Double(threads) / Double(max(cores, 1)))
    let busy = shares.reduce(0) { $0 + $1.value * ($1.key == host ? width : 1) }
    return seconds * (shares.isEmpty ? 1 : busy) * (envelope.fullLoadWatts - envelope.idleWatts)
  }

  /// Returns the basis of the estimate in words.
  package static func estimateSource(_ envelope: ThermalEnvelope) -> String {
    "estimated: time at work × the envelope \"\(envelope.name)\", the CPU's by its threads"
  }
}

extension StreamVariant {
  /// Creates the variant with a smaller input.
  ///
  /// - Parameters:
  ///   - usual: the preferred variant.
  ///   - explanation: the explanation of the plan for images of this size.
  package init(_ usual: StreamVariant, sees size: ImageFeature.Size, by explanation: PlanExplanation) {
    self = usual
    (label, change, imageSize) = ("input \(size.width) x \(size.height)", .input, size)
    solution = explanation.solution
    shares = explanation.deviceShares(explanation.solution)
  }
}

extension ModelContext {
  /// Returns the variants of a stream: the plan first, then those that may take less energy, which a trial decides.
  ///
  /// - Parameters:
  ///   - explanation: the explanation of the preferred plan.
  ///   - precision: the requested precision; a lower one is tried only if the choice was automatic and a device
  ///     distinguishes the two.
  ///   - threads: the threads of the CPU device.
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
  /// Returns the single-device plans, and of the other plans the one with the least expected energy.
  ///
  /// - Parameter reference: the reference device, which is too slow for any stream.
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

  /// Returns, by device, the share of the nodes' seconds in a placement.
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
