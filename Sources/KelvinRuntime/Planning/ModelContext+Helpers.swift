package import KelvinDevices
package import KelvinGraph
package import KelvinPlanning

extension ModelContext {
  /// Returns remarks on a plan for the user: a line for each fallback device that runs nodes that none of the units
  /// supports, one if devices lack memory, and one if the requested precision makes no difference.
  package func remarks(on explanation: PlanExplanation, _ request: PlanRequest) throws(RuntimeError) -> [String] {
    let placement = explanation.solution.placement
    let helping = remarks(
      on: placement, units: try planner.devices(for: request).units, precision: request.precision)
    return try helping + [explanation.shortage, precisionRemark(on: explanation, request)].compactMap { $0 }
  }

  /// Returns a remark if the requested precision makes no difference.
  package func precisionRemark(
    on explanation: PlanExplanation, _ request: PlanRequest
  ) throws(RuntimeError) -> String? {
    let (precision, placement) = (request.precision, explanation.solution.placement)
    guard [.high, .low].contains(precision), !placement.isEmpty,
      try node(tellingApart: .full, precision, placement: placement) == nil
    else { return nil }
    let devices = Set(placement.values).sorted().joined(separator: " and ")
    return
      "precision \(precision.rawValue) is the same as full: no operation of this model has a less exact"
      + " kernel or storage on \(devices)"
  }

  /// Returns a remark for each fallback device that runs nodes that none of the units supports.
  ///
  /// - Parameter units: the devices that were requested.
  package func remarks(on placement: [String: String], units: [any Device], precision: Precision) -> [String] {
    let host = inventory.host
    var fallbackDevices = [host]
    if let reference = inventory.reference, reference !== host { fallbackDevices.append(reference) }
    return fallbackDevices.filter { helper in !units.contains { $0 === helper } }.compactMap { helper in
      let asked = helper === host || units.contains { $0 === host } ? units : units + [host]
      return remark(on: helper, for: asked, placement, precision)
    }
  }

  private func remark(
    on helper: any Device, for asked: [any Device], _ placement: [String: String], _ precision: Precision
  ) -> String? {
    struct Kind: Hashable {
      var op: String
      var reason: String
    }
    var kinds: [Kind: Int] = [:]
    let graph = FlatGraph(graph).graph
    for node in graph.nodes where placement[node.name] == helper.info.id {
      let answers = asked.map { (id: $0.info.id, support: $0.support(for: node, in: graph, precision: precision)) }
      // If a requested device supports the node, a pin or a plan put it here.
      guard !answers.contains(where: { $0.support.isSupported }) else { continue }
      var reasons: [(id: String, reason: String)] = []
      for (id, support) in answers {
        if case .unsupported(let reason) = support { reasons.append((id, reason)) }
      }
      let isOne = Set(reasons.map(\.reason)).count == 1
      let text = isOne ? reasons[0].reason : reasons.map { "\($0.id): \($0.reason)" }.joined(separator: "; ")
      kinds[Kind(op: node.op.name, reason: text), default: 0] += 1
    }
    guard !kinds.isEmpty else { return nil }
    let count = kinds.values.reduce(0, +)
    let order = kinds.sorted { ($1.value, $0.key.op, $0.key.reason) < ($0.value, $1.key.op, $1.key.reason) }
    var parts = order.prefix(3).map { kind, count in
      "\(count) \(kind.op)" + (kind.reason.isEmpty ? "" : " (\(kind.reason))")
    }
    let rest = order.dropFirst(3).reduce(0) { $0 + $1.value }
    if rest > 0 { parts.append("\(rest) \(rest == 1 ? "other" : "others")") }
    let verb = count == 1 ? "runs" : "run"
    let total = graph.nodes.count == 1 ? "1 node" : "\(graph.nodes.count) nodes"
    let name = helper.info.kind == .reference ? "\(helper.info.id), in float64, which is slow" : helper.info.id
    let others = asked.isEmpty ? "" : ", not on \(asked.map(\.info.id).joined(separator: " or "))"
    return "\(count) of \(total) \(verb) on \(name)\(others): \(parts.joined(separator: ", "))"
      + "; 'kelvin plan' lists them"
  }
}
