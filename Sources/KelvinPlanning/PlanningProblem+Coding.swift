package import FoundationEssentials
import KelvinBasics

extension PlanningProblem.Node: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case id, inputs, outputs, weights, seconds, joules, startSeconds, streamSeconds, source, unsupported
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try fields.decode(String.self, forKey: .id),
      inputs: try fields.decode([String].self, forKey: .inputs),
      outputs: try fields.decode([PlanningProblem.Value].self, forKey: .outputs),
      weights: try fields.decode(.weights, or: []),
      seconds: try fields.decode([String: Double].self, forKey: .seconds),
      joules: try fields.decode(.joules, or: [:]),
      startSeconds: try fields.decode(.startSeconds, or: [:]),
      streamSeconds: try fields.decode(.streamSeconds, or: [:]),
      source: try fields.decode(.source, or: [:]),
      unsupported: try fields.decode(.unsupported, or: [:]))
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "id": id, "inputs": inputs, "outputs": outputs, "weights": weights.isEmpty ? nil : weights, "seconds": seconds,
      "joules": joules.nonEmpty,
      "startSeconds": startSeconds.nonEmpty, "streamSeconds": streamSeconds.nonEmpty, "source": source.nonEmpty,
      "unsupported": unsupported.nonEmpty,
    ]
    try document.encode(to: encoder)
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
      signalSeconds: try fields.decode(.signalSeconds, or: [:]))
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "value": value, "bytes": bytes, "copies": copies == .infinity ? Self.never : copies == 1 ? nil : copies,
      "signalSeconds": signalSeconds.nonEmpty,
    ]
    try document.encode(to: encoder)
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
    var nodes = try fields.decode([Node].self, forKey: .nodes)
    let joules: [String: [String: Double]] = try fields.decode(.joules, or: [:])
    if !joules.isEmpty {
      let known = Set(nodes.map(\.id))
      if let stranger = joules.keys.filter({ !known.contains($0) }).min() {
        throw PlanningError(.unknown, "joules", "no node is called '\(stranger)'")
      }
      for i in nodes.indices {
        nodes[i].joules.merge(joules[nodes[i].id] ?? [:]) { inNode, _ in inNode }
      }
    }
    let goalName = try fields.decode(.goal, or: Goal.latency.rawValue)
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
      pins: try fields.decode(.pins, or: [:]),
      exclude: try fields.decode(.exclude, or: []),
      memory: try fields.decode(.memory, or: [:]),
      boundarySeconds: try fields.decode(.boundarySeconds, or: [:]),
      resource: try fields.decode(.resource, or: [:]),
      start: try fields.decodeIfPresent(Start.self, forKey: .start),
      power: try fields.decodeIfPresent(Power.self, forKey: .power))
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "devices": devices, "host": host, "transfers": transfers, "inputs": inputs, "outputs": outputs, "nodes": nodes,
      "goal": goal == .latency ? nil : goal, "pins": pins.nonEmpty, "exclude": exclude.nonEmpty,
      "memory": memory.nonEmpty, "boundarySeconds": boundarySeconds.nonEmpty, "resource": resource.nonEmpty,
      "start": start, "power": power,
    ]
    try document.encode(to: encoder)
  }
}

/// `load`, `runs` and `devices` are optional.
extension PlanningProblem.Start {
  enum CodingKeys: String, CodingKey, CaseIterable { case load, runs, devices }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      load: try fields.decode(.load, or: 0),
      runs: try fields.decode(.runs, or: 0),
      devices: try fields.decode(.devices, or: [:]))
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
