import KelvinDevices
import KelvinGraph
package import KelvinPlanning

/// The parts of a plan that compilation needs, which the same graph at other sizes may share.
package struct Placement: Sendable {
  /// Node names to device ids.
  package let devices: [String: String]
  package let transfers: [PlannedTransfer]
  /// The names of the nodes whose weights are copied to their device before each use.
  package private(set) var streamed: Set<String> = []
  /// The share of the inferences; 1 for a single plan.
  package var share = 1.0

  /// The best single plan of a solution.
  package init(_ solution: PlanSolution) {
    devices = solution.placement
    transfers = solution.transfers
    streamed = Set(solution.streamed ?? [])
  }

  private init(_ part: PlanMixture.Share) {
    devices = part.placement
    transfers = part.transfers
    share = part.share
  }

  /// The plans of a solution between which inferences alternate; the single plan if it has no mixture.
  package static func alternating(_ solution: PlanSolution) -> [Placement] {
    solution.mixture.map { $0.plans.map { Placement($0) } } ?? [Placement(solution)]
  }

  /// The placements of compiled plans.
  package static func alternating(_ mixture: CompiledMixture) -> [Placement] {
    zip(mixture.models, mixture.shares).map { model, share in
      var placement = Placement(model)
      placement.share = share
      return placement
    }
  }

  /// Returns placements whose shares have the same proportion and sum to 1.
  package static func sharing(_ placements: [Placement]) -> [Placement] {
    let whole = placements.reduce(0) { $0 + $1.share }
    return placements.map { placement in
      var placement = placement
      placement.share /= whole
      return placement
    }
  }

  /// The placements of a saved plan, without copies, which are determined again.
  package static func alternating(saved plan: Plan) -> [Placement] {
    let plans = plan.mixture?.plans.map(\.placement) ?? []
    return ([plan.placement] + plans).map { Placement(devices: $0) }
  }

  private init(devices: [String: String]) {
    self.devices = devices
    transfers = []
  }

  private init(_ model: CompiledModel) {
    devices = model.placement
    transfers = model.transfers
    streamed = model.streamed
  }
}

extension ModelContext {
  /// Whether a placement made for other sizes also places this graph: the nodes and values have the same names, and
  /// each node is supported by its device.
  package func fits(_ placement: Placement, _ request: PlanRequest) -> Bool {
    let flat = FlatGraph(graph, iterations: request.iterations)
    let names = Set(flat.placedNames)
    guard names == Set(placement.devices.keys) else { return false }
    let values = Set(flat.graph.values.map(\.name) + flat.controls.map(\.signal))
    guard placement.transfers.allSatisfy({ values.contains($0.value) }) else { return false }
    return flat.graph.nodes.allSatisfy { node in
      guard let id = placement.devices[node.name], request.failedDevices[id] == nil,
        request.refusals[id]?[node.name] == nil, let device = try? inventory.device(id)
      else { return false }
      return device.support(for: node, in: flat.graph, precision: request.precision).isSupported
    }
  }
}
