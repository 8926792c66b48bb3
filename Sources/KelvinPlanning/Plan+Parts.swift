extension Plan {
  /// One of a function's graphs in a plan, if there are several or its sizes depend on data.
  package struct Part: Hashable, Sendable, Codable {
    /// The name, unique in the function; nodes refer to it.
    package var name: String
    /// The fingerprint of the planned graph.
    package var graph: String
    package var predicted: Double
    package var method: PlanSolution.Method
    package var gap: Double
    package var bestSingleDevice: SingleDevice?
    /// The shape of each slot that the graph reads, from a sample run; nil when shapes do not depend on data.
    package var sampledSizes: [String: [Int]]?
    /// The elements on which sizes depend, by slot, from the sample run.
    package var sampledValues: [String: [Double]]?
    /// The largest shapes for which the plan is valid; nil when shapes cannot vary or each size has its own plan.
    package var holdsUpTo: [String: [Int]]?
    /// The plans between which predictions alternate; nil for one plan.
    package var mixture: PlanMixture?
  }

  /// Returns the plan as the part of one graph among a function's.
  ///
  /// - Parameters:
  ///   - name: the graph's name.
  ///   - sizes, values: the sizes and values of a sample run, if they depend on data.
  package func asPart(_ name: String, sampledSizes sizes: [String: [Int]]?, sampledValues values: [String: [Double]]?)
    -> Plan
  {
    var plan = self
    plan.parts = [
      Part(
        name: name, graph: subject.graph, predicted: predicted, method: method, gap: gap,
        bestSingleDevice: bestSingleDevice, sampledSizes: sizes, sampledValues: values, holdsUpTo: holdsUpTo,
        mixture: mixture)
    ]
    plan.holdsUpTo = nil
    plan.mixture = nil
    for index in plan.nodes.indices { plan.nodes[index].part = name }
    return plan
  }

  /// Joins the plans of graphs that run in sequence into one document.
  ///
  /// - Parameters:
  ///   - plans: results of `asPart`, at least one, for one model and goal.
  ///   - graph: the fingerprint of all graphs.
  ///   - singleDevice: the best device to run all of them.
  package init(joining plans: [Plan], graph: String, singleDevice: SingleDevice?) {
    self = plans[0]
    guard plans.count > 1 else { return }
    subject.graph = graph
    var known: Set<String> = []
    subject.devices = plans.flatMap(\.subject.devices).filter { known.insert($0.id).inserted }
    predicted = plans.reduce(0) { $0 + $1.predicted }
    method = plans.allSatisfy { $0.method == .exact } ? .exact : .approximate
    // Each plan is at most this far from its bound, so their sum is too.
    gap = plans.map(\.gap).max() ?? 0
    bestSingleDevice = singleDevice
    nodes = plans.flatMap(\.nodes)
    parts = plans.flatMap(\.parts)
  }

  /// Returns the plan of one graph alone; nil when this plan has no such part.
  package func part(named name: String) -> Plan? {
    guard let part = parts.first(where: { $0.name == name }) else { return nil }
    var plan = self
    plan.subject.graph = part.graph
    plan.predicted = part.predicted
    plan.method = part.method
    plan.gap = part.gap
    plan.bestSingleDevice = part.bestSingleDevice
    plan.nodes = nodes.filter { $0.part == name }
    plan.mixture = part.mixture
    plan.parts = [part]
    return plan
  }

  /// The devices that run a node, in any plan of a mixture.
  package var usedDevices: Set<String> {
    ([mixture] + parts.map(\.mixture)).reduce(into: Set(nodes.map(\.device))) { used, mixture in
      if let mixture { used.formUnion(mixture.usedDevices) }
    }
  }

  /// Returns the plan of one graph without the plans of its mixture that cannot be used. The others keep the proportion of
  /// their shares. If the single plan cannot be used, the one with the largest share replaces it.
  ///
  /// - Parameter isUsable: receives a placement, by node.
  /// - Returns: nil if the plan cannot be used, or if fewer than two plans of a mixture remain.
  package func keeping(where isUsable: ([String: String]) -> Bool) -> Plan? {
    guard let mixture else { return isUsable(placement) ? self : nil }
    var plan = self
    let kept = PlanMixture(
      plans: mixture.keeping { isUsable($0.placement) }, singlePlanSeconds: mixture.singlePlanSeconds)
    guard kept.plans.count > 1 else { return nil }
    plan.mixture = kept
    for index in plan.parts.indices { plan.parts[index].mixture = kept }
    guard !isUsable(placement) else { return plan }
    for index in plan.nodes.indices {
      plan.nodes[index].device = kept.plans[0].placement[plan.nodes[index].name] ?? plan.nodes[index].device
    }
    return plan
  }
}
