import KelvinDevices
import KelvinGraph
package import KelvinPlanning
package import KelvinRuntime

/// The other load of the machine while a model runs: shares of devices kept free, and shares that others use.
///
/// Shares are those of a device's resource, so a load on the CPU also applies to llvmpipe and PoCL.
package struct Scenario: Sendable, Hashable {
  /// The share kept free, by resource, 0 ..< 1.
  package let reserved: [String: Double]
  /// The share that others use, by resource, 0 ..< 1.
  package let used: [String: Double]

  package static let idle = Scenario(reserved: [:], used: [:])

  private init(reserved: [String: Double], used: [String: Double]) {
    self.reserved = reserved
    self.used = used
  }

  /// - Throws: `RuntimeError` for a device that does not exist.
  package init(_ workload: Workload, _ inventory: DeviceInventory) throws(RuntimeError) {
    func byResource(_ shares: [String: Double]) throws(RuntimeError) -> [String: Double] {
      var result: [String: Double] = [:]
      for (id, share) in shares where share > 0 {
        let resource = try inventory.device(id).info.resource
        result[resource] = min(Workload.largestShare, (result[resource] ?? 0) + share)
      }
      return result
    }
    self.init(reserved: try byResource(workload.reserve), used: try byResource(workload.coload))
  }

  package var isIdle: Bool { reserved.isEmpty && used.isEmpty }

  /// Returns the factor by which work on a partly available resource takes longer: 1/(1 − share).
  package func slowdown(_ resource: String) -> Double {
    1 / (1 - min((reserved[resource] ?? 0) + (used[resource] ?? 0), Workload.largestShare))
  }

  /// Returns the threads of the CPU device that leave its reserved share free, at least one.
  package func threads(of all: Int) -> Int {
    max(1, Int((Double(all) * (1 - (reserved["cpu"] ?? 0)) + 1e-9).rounded(.down)))
  }

  /// Returns the seconds to idle after each second of inference, so that no device is busy for more than its unreserved
  /// share.
  ///
  /// - Parameters:
  ///   - busy: by resource, the fraction of an inference in which the plan keeps it busy.
  ///   - threads: the threads of the CPU device.
  ///   - cores: the threads that the CPU device would use if nothing were reserved.
  package func rest(busy: [String: Double], threads: Int, cores: Int) -> Double {
    reserved.reduce(0) { rest, entry in
      let (resource, share) = entry
      let width = resource == "cpu" ? min(1, Double(threads) / Double(max(cores, 1))) : 1
      return max(rest, (busy[resource] ?? 0) * width / (1 - share) - 1)
    }
  }

  /// Returns the problem with its costs scaled to the scenario.
  ///
  /// - Parameter silicon: the resource of each device, by identifier; by default the device's resource in the problem.
  package func applied(
    to problem: PlanningProblem, silicon: [String: String] = [:]
  ) throws(PlanningError) -> PlanningProblem {
    guard !isIdle else { return problem }
    func factor(_ device: String) -> Double { slowdown(silicon[device] ?? problem.resource[device] ?? device) }
    var nodes = problem.nodes
    for index in nodes.indices {
      for (device, seconds) in nodes[index].seconds { nodes[index].seconds[device] = seconds * factor(device) }
    }
    return try PlanningProblem(
      devices: problem.devices, host: problem.host, transfers: problem.transfers, inputs: problem.inputs,
      outputs: problem.outputs, nodes: nodes, goal: problem.goal, pins: problem.pins, exclude: problem.exclude,
      memory: problem.memory, boundarySeconds: problem.boundarySeconds, resource: problem.resource,
      start: problem.start, power: problem.power)
  }
}

extension ModelContext {
  /// Returns the best plan in a scenario, or the costs of a given plan there.
  func explain(_ request: PlanRequest, adopting plan: Plan?, in scenario: Scenario) throws -> PlanExplanation {
    var request = request
    var mixture: PlanMixture?
    if let plan {
      let adopted = try explain(adopting: plan, request)
      guard !scenario.isIdle else { return adopted }
      request.pins = adopted.solution.placement
      mixture = adopted.solution.mixture
    }
    guard !scenario.isIdle else { return try explain(request) }
    let silicon = Dictionary(inventory.devices.map { ($0.info.id, $0.info.resource) }) { first, _ in first }
    var explanation = try scenario.applied(to: try planner.problem(graph, request), silicon: silicon).explain()
    if let mixture { explanation.solution.mixture = mixture }
    return explanation
  }
}
