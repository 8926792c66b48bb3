import KelvinBasics
import KelvinDevices
package import KelvinPlanning

/// Plans of models that are larger than the memory of their devices.
extension ModelContext {
  /// Returns a plan for units that do not hold the model: the host runs the nodes for which they have no memory.
  ///
  /// - Throws: the errors of planning, if the host may not run them or a device must.
  func relieved(_ request: PlanRequest) throws -> PlanExplanation {
    var request = request
    request.hostRelieves = true
    let units = try request.units.devices(in: inventory).map(\.info.id)
    let problem = try planner.problem(graph, request)
    let wanted = problem.nodes.reduce(into: [String: String]()) { wanted, node in
      let times = units.compactMap { unit in node.seconds[unit].map { (unit, $0) } }
      wanted[node.id] = times.min { $0.1 < $1.1 }?.0
    }
    return try reduced(wanted, problem, request)
  }

  /// Returns as much of a plan as its devices have memory for, within the bounds of the request. The host may run the
  /// other nodes, even outside the units.
  ///
  /// - Parameter wanted: the plan's devices by node.
  package func reduced(_ wanted: [String: String], _ request: PlanRequest) throws -> PlanExplanation {
    var request = request
    request.hostRelieves = true
    return try reduced(wanted, planner.problem(graph, request), request)
  }

  private func reduced(
    _ wanted: [String: String], _ problem: PlanningProblem, _ request: PlanRequest
  ) throws -> PlanExplanation {
    var pinned = request
    pinned.pins = try problem.reduced(wanted)
    var explanation = try settled(try planner.problem(graph, pinned), pinned)
    let moved = pinned.pins.filter { node, device in wanted[node].map { $0 != device } ?? false }
    for index in explanation.nodes.indices where explanation.nodes[index].reason == "pinned" {
      let node = explanation.nodes[index].node
      explanation.nodes[index].reason =
        moved[node] == nil ? "asked for" : "no room on \(wanted[node] ?? "its device") beside the others"
    }
    explanation.shortage = shortage(explanation.solution, of: wanted, problem)
    return explanation
  }

  /// Returns a remark on the devices that lack memory for the nodes that they were to run; nil if none does.
  func shortage(_ solution: PlanSolution, of wanted: [String: String], _ problem: PlanningProblem) -> String? {
    let streamed = Set(solution.streamed ?? [])
    let moved = solution.placement.filter { node, device in wanted[node].map { $0 != device } ?? false }
    let lacks = Set(streamed.union(moved.keys).compactMap { wanted[$0] }).sorted().map { device in
      func bytes(_ isCounted: (String) -> Bool) -> String {
        HumanReadable.bytes(problem.weightBytes(on: device) { wanted[$0.id] == device && isCounted($0.id) })
      }
      let stay = bytes { moved[$0] == nil && !streamed.contains($0) }
      let text =
        "\(device) has room for \(HumanReadable.bytes(problem.memory[device])), and the weights take "
        + "\(bytes { _ in true }): it keeps \(stay) of them"
      guard streamed.contains(where: { wanted[$0] == device }) else { return text }
      return text + " and copies \(bytes(streamed.contains)) before each use"
    }
    guard !lacks.isEmpty else { return nil }
    let others = Set(moved.values).sorted()
    guard !others.isEmpty else { return lacks.joined(separator: "; ") }
    return lacks.joined(separator: "; ") + ", and \(others.joined(separator: " and ")) "
      + "\(others.count == 1 ? "runs" : "run") \(moved.count) of \(problem.nodes.count) nodes"
  }
}
