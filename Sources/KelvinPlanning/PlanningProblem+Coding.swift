package import FoundationEssentials
import KelvinBasics

extension PlanningProblem.Node: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case id, inputs, outputs, seconds, joules, startSeconds, source, unsupported
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try fields.decode(String.self, forKey: .id),
      inputs: try fields.decode([String].self, forKey: .inputs),
      outputs: try fields.decode([PlanningProblem.Value].self, forKey: .outputs),
      seconds: try fields.decode([String: Double].self, forKey: .seconds),
      joules: try fields.decodeIfPresent([String: Double].self, forKey: .joules) ?? [:],
      startSeconds: try fields.decodeIfPresent([String: Double].self, forKey: .startSeconds) ?? [:],
      source: try fields.decodeIfPresent([String: CostSource].self, forKey: .source) ?? [:],
      unsupported: try fields.decodeIfPresent([String: String].self, forKey: .unsupported) ?? [:])
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(inputs, forKey: .inputs)
    try fields.encode(outputs, forKey: .outputs)
    try fields.encode(seconds, forKey: .seconds)
    if !joules.isEmpty { try fields.encode(joules, forKey: .joules) }
    if !startSeconds.isEmpty { try fields.encode(startSeconds, forKey: .startSeconds) }
    if !source.isEmpty { try fields.encode(source, forKey: .source) }
    if !unsupported.isEmpty { try fields.encode(unsupported, forKey: .unsupported) }
  }
}

/// `copies` is optional with default 1, and `"never"` for a value that is not copied. Only signals have
/// `signalSeconds`.
extension PlanningProblem.Value: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable { case value, bytes, copies, signalSeconds }

  private static let never = "never"

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    var copies = 1.0
    if fields.contains(.copies) {
      let isNever = (try? fields.decode(String.self, forKey: .copies)) == Self.never
      copies = isNever ? .infinity : try fields.decode(Double.self, forKey: .copies)
    }
    self.init(
      value: try fields.decode(String.self, forKey: .value), bytes: try fields.decode(Int.self, forKey: .bytes),
      copies: copies,
      signalSeconds: try fields.decodeIfPresent([String: Double].self, forKey: .signalSeconds) ?? [:])
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(value, forKey: .value)
    try fields.encode(bytes, forKey: .bytes)
    if copies == .infinity { try fields.encode(Self.never, forKey: .copies) }
    if copies != 1, copies != .infinity { try fields.encode(copies, forKey: .copies) }
    if !signalSeconds.isEmpty { try fields.encode(signalSeconds, forKey: .signalSeconds) }
  }
}

/// The document of `kelvin plan --problem`. `joules` may be given in each node, or at the top level as `{node: {device:
/// joules}}`.
extension PlanningProblem: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case devices, host, transfers, inputs, outputs, nodes, goal, pins, exclude, memory, joules, boundarySeconds,
      resource, start, power
  }

  /// - Throws: `malformed` when `json` does not have the documented structure, `unknown` for a key that is similar to a
  ///   known one, and the errors of `init`.
  package init(json: Data) throws(PlanningError) {
    self = try Self.read(json).problem
  }

  /// Returns the problem, with remarks on keys that are not read.
  package static func read(_ json: Data) throws(PlanningError) -> (problem: PlanningProblem, remarks: [String]) {
    let keys = try? JSONText.decode(ProblemKeys.self, from: json)
    let remarks = try keys?.remarks() ?? []
    do {
      return (try JSONText.decode(PlanningProblem.self, from: json), remarks)
    } catch let error as PlanningError {
      throw error
    } catch {
      throw PlanningError(malformed: error, in: "planning problem")
    }
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func optional<T: Decodable>(_ key: CodingKeys, _ none: T) throws -> T {
      try fields.decodeIfPresent(T.self, forKey: key) ?? none
    }
    var nodes = try fields.decode([Node].self, forKey: .nodes)
    let joules: [String: [String: Double]] = try optional(.joules, [:])
    if !joules.isEmpty {
      let known = Set(nodes.map(\.id))
      if let stranger = joules.keys.filter({ !known.contains($0) }).min() {
        throw PlanningError(.unknown, "joules", "no node is called '\(stranger)'")
      }
      for i in nodes.indices {
        nodes[i].joules.merge(joules[nodes[i].id] ?? [:]) { inNode, _ in inNode }
      }
    }
    let goalName = try fields.decodeIfPresent(String.self, forKey: .goal) ?? Goal.latency.rawValue
    guard let goal = Goal(rawValue: goalName) else {
      throw PlanningError(
        .unknown, "goal", "no goal is called '\(goalName)'",
        remedy: "use one of " + Goal.allCases.map(\.rawValue).joined(separator: ", "))
    }
    try self.init(
      devices: try fields.decode([String].self, forKey: .devices),
      host: try fields.decode(String.self, forKey: .host),
      transfers: try fields.decode([Transfer].self, forKey: .transfers),
      inputs: try fields.decode([Value].self, forKey: .inputs),
      outputs: try fields.decode([String].self, forKey: .outputs),
      nodes: nodes,
      goal: goal,
      pins: try optional(.pins, [:]),
      exclude: try optional(.exclude, []),
      memory: try optional(.memory, [:]),
      boundarySeconds: try optional(.boundarySeconds, [:]),
      resource: try optional(.resource, [:]),
      start: try fields.decodeIfPresent(Start.self, forKey: .start),
      power: try fields.decodeIfPresent(Power.self, forKey: .power))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(devices, forKey: .devices)
    try fields.encode(host, forKey: .host)
    try fields.encode(transfers, forKey: .transfers)
    try fields.encode(inputs, forKey: .inputs)
    try fields.encode(outputs, forKey: .outputs)
    try fields.encode(nodes, forKey: .nodes)
    if goal != .latency { try fields.encode(goal, forKey: .goal) }
    if !pins.isEmpty { try fields.encode(pins, forKey: .pins) }
    if !exclude.isEmpty { try fields.encode(exclude, forKey: .exclude) }
    if !memory.isEmpty { try fields.encode(memory, forKey: .memory) }
    if !boundarySeconds.isEmpty { try fields.encode(boundarySeconds, forKey: .boundarySeconds) }
    if !resource.isEmpty { try fields.encode(resource, forKey: .resource) }
    try fields.encodeIfPresent(start, forKey: .start)
    try fields.encodeIfPresent(power, forKey: .power)
  }
}

/// `load`, `runs` and `devices` are optional.
extension PlanningProblem.Start {
  enum CodingKeys: String, CodingKey, CaseIterable { case load, runs, devices }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      load: try fields.decodeIfPresent(Double.self, forKey: .load) ?? 0,
      runs: try fields.decodeIfPresent(Int.self, forKey: .runs) ?? 0,
      devices: try fields.decodeIfPresent([String: Double].self, forKey: .devices) ?? [:])
  }
}

extension PlanningError {
  /// Converts an error of a JSON decoder, with the path of keys to its position.
  init(malformed error: any Error, in document: String) {
    guard let error = error as? DecodingError else {
      self.init(.malformed, document, "\(error)")
      return
    }
    let context: DecodingError.Context
    var reason: String
    switch error {
    case .typeMismatch(_, let c), .dataCorrupted(let c):
      context = c
      reason = c.debugDescription
    case .valueNotFound(_, let c):
      context = c
      reason = "null where a value is needed"
    case .keyNotFound(let key, let c):
      context = c
      reason = "'\(key.stringValue)' is missing"
    @unknown default:
      self.init(.malformed, document, "\(error)")
      return
    }
    let path = Self.text(of: context.codingPath)
    if reason.isEmpty { reason = "not the documented shape" }
    self.init(.malformed, document + path, reason)
  }

  /// Returns a string such as `.nodes[3].seconds`.
  static func text(of path: [any CodingKey]) -> String {
    path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
  }
}
