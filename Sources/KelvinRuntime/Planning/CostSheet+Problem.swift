import KelvinDevices
import KelvinMeasurements
import KelvinPlanning

extension CostSheet {
  /// Returns the planning problem of nodes with known costs, with links, resources, memory, start costs and power
  /// added.
  ///
  /// - Parameters:
  ///   - devices: the devices that take part.
  ///   - capacities: the bytes that devices can hold; unlimited if absent.
  ///   - model: the profile key of the model's start costs.
  func problem(
    _ nodes: [PlanningProblem.Node], devices: [DeviceInfo], host: String, inputs: [PlanningProblem.Value],
    outputs: [String], pins: [String: String], capacities: [String: Int], model: String?, _ request: PlanRequest
  ) throws(PlanningError) -> PlanningProblem {
    let startup = model.flatMap { profile?.startup[$0] } ?? [:]
    var start = PlanningProblem.Start(load: startup.values.map(\.load).max() ?? 0, runs: request.runs)
    for device in devices {
      guard let cost = startup[device.id] else { continue }
      let inNodes = nodes.reduce(0) { $0 + ($1.startSeconds[device.id] ?? 0) + ($1.seconds[device.id] ?? 0) }
      start.devices[device.id] = max(0, cost.compile + cost.firstRun - inNodes)
    }
    // A host that runs no nodes must not merge the resources of other devices.
    let running = devices.filter { device in nodes.contains { $0.seconds[device.id] != nil } }
    let resource = Dictionary(devices.map { ($0.id, $0.resource) }) { first, _ in first }
      .merging(resources(of: running)) { $1 }
    return try PlanningProblem(
      devices: devices.map(\.id), host: host,
      transfers: devices.flatMap { from in
        devices.filter { $0.id != from.id }.map { transfer(from: from, to: $0, threads: request.threads) }
      },
      inputs: inputs, outputs: outputs, nodes: nodes, goal: request.goal, pins: pins,
      memory: limits(capacities, nodes, inputs), resource: resource,
      start: start, power: request.power)
  }

  /// Returns the capacity of each device that all weights and values together exceed.
  private func limits(
    _ capacities: [String: Int], _ nodes: [PlanningProblem.Node], _ inputs: [PlanningProblem.Value]
  ) -> [String: Int] {
    let values = nodes.reduce(inputs.reduce(0.0) { $0 + Double($1.bytes) }) { sum, node in
      node.outputs.reduce(sum) { $0 + Double($1.bytes) }
    }
    return capacities.filter { device, capacity in
      let weights = nodes.reduce(into: [String: Int]()) { all, node in
        for weight in node.weights where weight.devices?.contains(device) ?? true { all[weight.weight] = weight.bytes }
      }
      return weights.values.reduce(values) { $0 + Double($1) } > Double(capacity)
    }
  }
}

extension PlanningProblem.Node {
  /// - Parameter iterations: the number of times that one inference runs the node.
  mutating func set(_ cost: CostSheet.Cost, on device: String, times iterations: Double = 1) {
    seconds[device] = iterations * cost.seconds
    source[device] = cost.source
    joules[device] = iterations * cost.joules
    startSeconds[device] = cost.startSeconds
  }
}
