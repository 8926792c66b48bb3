package import FoundationEssentials
import KelvinBasics

extension PlanCandidate: Codable {
  package init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let device: String = try fields["device"]
    if let seconds: Double = try fields["seconds", or: nil] {
      self.init(
        device: device, seconds: seconds, source: try fields["source", or: .estimated],
        joules: try fields["joules", or: nil], regret: try fields["regret", or: nil])
    } else {
      self.init(device: device, unsupported: try fields["unsupported"])
    }
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "device": device, "seconds": seconds, "source": source, "unsupported": unsupported, "joules": joules,
      "regret": regret,
    ]
    try document.encode(to: encoder)
  }
}

extension Plan.Node: Codable {
  package init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    self.init(
      name: try fields["name"], op: try fields["op", or: ""], origins: try fields["origins", or: []],
      inputs: try fields["inputs", or: []], device: try fields["device"], reason: try fields["reason", or: ""],
      regret: try fields["regret", or: nil], candidates: try fields["candidates", or: []],
      transfers: try fields["transfers", or: []])
    computation = try fields["computation", or: nil]
    region = try fields["region", or: ""]
    iterations = try fields["trips", or: 1]
    part = try fields["part", or: ""]
    turns = try fields["turns", or: nil]
  }

  /// `regret` is always encoded: `null` when no other device may run the node. `region` and `trips` are encoded only
  /// for nodes within control flow, `turns` only for a branch or loop itself, `part` only when the plan has parts.
  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "name": name, "op": op, "computation": computation, "origins": origins, "inputs": inputs, "device": device,
      "reason": reason, "regret": JSONNull(regret), "candidates": candidates, "transfers": transfers,
      "region": region.nonEmpty, "trips": region.isEmpty ? nil : iterations, "part": part.nonEmpty, "turns": turns,
    ]
    try document.encode(to: encoder)
  }
}

extension Plan: Codable {
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
    let fields = try JSONFields(decoder)
    let version: Int = try fields["version"]
    guard version == Plan.currentVersion else {
      throw PlanningError(
        .stale, "plan", "version \(version), this Kelvin reads version \(Plan.currentVersion)",
        remedy: "plan again with 'kelvin plan --save'")
    }
    self.init(
      subject: Subject(
        model: try fields["model", or: ""], modelKey: try fields["modelKey", or: ""],
        graph: try fields["graph", or: ""], machine: try fields["machine", or: ""],
        devices: try fields["devices", or: []], units: try fields["units", or: ""],
        precision: try fields["precision", or: ""]),
      goal: try fields["goal", or: .latency], predicted: try fields["predicted", or: 0],
      method: try fields["method", or: .approximate], gap: try fields["gap", or: 0],
      bestSingleDevice: try fields["bestSingleDevice", or: nil], nodes: try fields["nodes"])
    parts = try fields["parts", or: []]
    holdsUpTo = try fields["holdsUpTo", or: nil]
    mixture = try fields["mixture", or: nil]
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "version": version, "model": subject.model, "modelKey": subject.modelKey, "graph": subject.graph,
      "machine": subject.machine, "devices": subject.devices, "units": subject.units,
      "precision": subject.precision, "goal": goal, "predicted": predicted, "method": method, "gap": gap,
      "bestSingleDevice": JSONNull(bestSingleDevice), "nodes": nodes, "parts": parts.nonEmpty,
      "holdsUpTo": holdsUpTo, "mixture": mixture,
    ]
    try document.encode(to: encoder)
  }
}
