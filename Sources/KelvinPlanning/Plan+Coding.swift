package import FoundationEssentials
import KelvinBasics

extension PlanCandidate: Codable {
  enum CodingKeys: String, CodingKey { case device, seconds, source, unsupported, joules, regret }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let device = try fields.decode(String.self, forKey: .device)
    if let seconds = try fields.decodeIfPresent(Double.self, forKey: .seconds) {
      self.init(
        device: device, seconds: seconds,
        source: try fields.decodeIfPresent(CostSource.self, forKey: .source) ?? .estimated,
        joules: try fields.decodeIfPresent(Double.self, forKey: .joules),
        regret: try fields.decodeIfPresent(Double.self, forKey: .regret))
    } else {
      self.init(device: device, unsupported: try fields.decode(String.self, forKey: .unsupported))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(device, forKey: .device)
    try fields.encodeIfPresent(seconds, forKey: .seconds)
    try fields.encodeIfPresent(source, forKey: .source)
    try fields.encodeIfPresent(unsupported, forKey: .unsupported)
    try fields.encodeIfPresent(joules, forKey: .joules)
    try fields.encodeIfPresent(regret, forKey: .regret)
  }
}

extension Plan.Node: Codable {
  enum CodingKeys: String, CodingKey {
    case name, op, computation, origins, inputs, device, reason, regret, candidates, transfers, region, trips, turns,
      part
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try fields.decode(String.self, forKey: .name),
      op: try fields.decodeIfPresent(String.self, forKey: .op) ?? "",
      origins: try fields.decodeIfPresent([Plan.Origin].self, forKey: .origins) ?? [],
      inputs: try fields.decodeIfPresent([String].self, forKey: .inputs) ?? [],
      device: try fields.decode(String.self, forKey: .device),
      reason: try fields.decodeIfPresent(String.self, forKey: .reason) ?? "",
      regret: try fields.decodeIfPresent(Double.self, forKey: .regret),
      candidates: try fields.decodeIfPresent([PlanCandidate].self, forKey: .candidates) ?? [],
      transfers: try fields.decodeIfPresent([PlannedTransfer].self, forKey: .transfers) ?? [])
    computation = try fields.decodeIfPresent(String.self, forKey: .computation)
    region = try fields.decodeIfPresent(String.self, forKey: .region) ?? ""
    trips = try fields.decodeIfPresent(Double.self, forKey: .trips) ?? 1
    part = try fields.decodeIfPresent(String.self, forKey: .part) ?? ""
    turns = try fields.decodeIfPresent(Double.self, forKey: .turns)
  }

  /// `regret` is always encoded: `null` when no other device may run the node. `region` and `trips` are encoded only
  /// for nodes within control flow, `turns` only for a branch or loop itself, `part` only when the plan has parts.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    try fields.encode(op, forKey: .op)
    try fields.encodeIfPresent(computation, forKey: .computation)
    try fields.encode(origins, forKey: .origins)
    try fields.encode(inputs, forKey: .inputs)
    try fields.encode(device, forKey: .device)
    try fields.encode(reason, forKey: .reason)
    try fields.encode(regret, forKey: .regret)
    try fields.encode(candidates, forKey: .candidates)
    try fields.encode(transfers, forKey: .transfers)
    if !region.isEmpty {
      try fields.encode(region, forKey: .region)
      try fields.encode(trips, forKey: .trips)
    }
    if !part.isEmpty { try fields.encode(part, forKey: .part) }
    try fields.encodeIfPresent(turns, forKey: .turns)
  }
}

extension Plan: Codable {
  enum CodingKeys: String, CodingKey {
    case version, model, modelKey, graph, machine, devices, units, precision, goal, predicted, method, gap
    case bestSingleDevice, nodes, parts, holdsUpTo
  }

  /// - Throws: `malformed`, `unknown`, `duplicate` or `invalidNumber`. The content of the file is not trusted.
  package init(json: Data) throws(PlanningError) {
    do {
      self = try JSONText.decode(Plan.self, from: json)
    } catch let error as PlanningError {
      throw error
    } catch {
      throw PlanningError(malformed: error, in: "plan")
    }
    try validate()
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String { try fields.decodeIfPresent(String.self, forKey: key) ?? "" }
    let version = try fields.decode(Int.self, forKey: .version)
    guard version == Plan.currentVersion else {
      throw PlanningError(
        .stale, "plan", "version \(version), this Kelvin reads version \(Plan.currentVersion)",
        remedy: "plan again with 'kelvin plan --save'")
    }
    self.init(
      subject: Subject(
        model: try text(.model), modelKey: try text(.modelKey), graph: try text(.graph), machine: try text(.machine),
        devices: try fields.decodeIfPresent([Device].self, forKey: .devices) ?? [], units: try text(.units),
        precision: try text(.precision)),
      goal: try fields.decodeIfPresent(Goal.self, forKey: .goal) ?? .latency,
      predicted: try fields.decodeIfPresent(Double.self, forKey: .predicted) ?? 0,
      method: try fields.decodeIfPresent(PlanSolution.Method.self, forKey: .method) ?? .approximate,
      gap: try fields.decodeIfPresent(Double.self, forKey: .gap) ?? 0,
      bestSingleDevice: try fields.decodeIfPresent(SingleDevice.self, forKey: .bestSingleDevice),
      nodes: try fields.decode([Node].self, forKey: .nodes))
    parts = try fields.decodeIfPresent([Part].self, forKey: .parts) ?? []
    holdsUpTo = try fields.decodeIfPresent([String: [Int]].self, forKey: .holdsUpTo)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(version, forKey: .version)
    try fields.encode(subject.model, forKey: .model)
    try fields.encode(subject.modelKey, forKey: .modelKey)
    try fields.encode(subject.graph, forKey: .graph)
    try fields.encode(subject.machine, forKey: .machine)
    try fields.encode(subject.devices, forKey: .devices)
    try fields.encode(subject.units, forKey: .units)
    try fields.encode(subject.precision, forKey: .precision)
    try fields.encode(goal, forKey: .goal)
    try fields.encode(predicted, forKey: .predicted)
    try fields.encode(method, forKey: .method)
    try fields.encode(gap, forKey: .gap)
    try fields.encode(bestSingleDevice, forKey: .bestSingleDevice)
    try fields.encode(nodes, forKey: .nodes)
    if !parts.isEmpty { try fields.encode(parts, forKey: .parts) }
    try fields.encodeIfPresent(holdsUpTo, forKey: .holdsUpTo)
  }
}
