import KelvinDevices
import KelvinGraph
package import KelvinPlanning

/// The parts of a plan that compilation needs, which the same graph at other sizes may share.
package struct Placement: Sendable {
  /// Node names to device ids.
  package let devices: [String: String]
  package let transfers: [PlannedTransfer]

  package init(_ solution: PlanSolution) {
    devices = solution.placement
    transfers = solution.transfers
  }

  package init(_ share: PlanMixture.Share) {
    devices = share.placement
    transfers = share.transfers
  }

  /// Takes the devices of a saved plan; the copies are determined again.
  package init(saved plan: Plan) {
    devices = plan.placement
    transfers = []
  }

  package init(_ model: CompiledModel) {
    devices = model.placement
    transfers = model.transfers
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
