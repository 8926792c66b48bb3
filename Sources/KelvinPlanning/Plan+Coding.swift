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
        source: try fields.decode(.source, or: .estimated),
        joules: try fields.decodeIfPresent(Double.self, forKey: .joules),
        regret: try fields.decodeIfPresent(Double.self, forKey: .regret))
    } else {
      self.init(device: device, unsupported: try fields.decode(String.self, forKey: .unsupported))
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
  enum CodingKeys: String, CodingKey {
    case name, op, computation, origins, inputs, device, reason, regret, candidates, transfers, region, trips, turns,
      part
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try fields.decode(String.self, forKey: .name),
      op: try fields.decode(.op, or: ""),
      origins: try fields.decode(.origins, or: []),
      inputs: try fields.decode(.inputs, or: []),
      device: try fields.decode(String.self, forKey: .device),
      reason: try fields.decode(.reason, or: ""),
      regret: try fields.decodeIfPresent(Double.self, forKey: .regret),
      candidates: try fields.decode(.candidates, or: []),
      transfers: try fields.decode(.transfers, or: []))
    computation = try fields.decodeIfPresent(String.self, forKey: .computation)
    region = try fields.decode(.region, or: "")
    trips = try fields.decode(.trips, or: 1)
    part = try fields.decode(.part, or: "")
    turns = try fields.decodeIfPresent(Double.self, forKey: .turns)
  }

  /// `regret` is always encoded: `null` when no other device may run the node. `region` and `trips` are encoded only
  /// for nodes within control flow, `turns` only for a branch or loop itself, `part` only when the plan has parts.
  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "name": name, "op": op, "computation": computation, "origins": origins, "inputs": inputs, "device": device,
      "reason": reason, "regret": JSONNull(regret), "candidates": candidates, "transfers": transfers,
      "region": region.nonEmpty, "trips": region.isEmpty ? nil : trips, "part": part.nonEmpty, "turns": turns,
    ]
    try document.encode(to: encoder)
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
    let version = try fields.decode(Int.self, forKey: .version)
    guard version == Plan.currentVersion else {
      throw PlanningError(
        .stale, "plan", "version \(version), this Kelvin reads version \(Plan.currentVersion)",
        remedy: "plan again with 'kelvin plan --save'")
    }
    self.init(
      subject: Subject(
        model: try fields.decode(.model, or: ""), modelKey: try fields.decode(.modelKey, or: ""),
        graph: try fields.decode(.graph, or: ""), machine: try fields.decode(.machine, or: ""),
        devices: try fields.decode(.devices, or: []), units: try fields.decode(.units, or: ""),
        precision: try fields.decode(.precision, or: "")),
      goal: try fields.decode(.goal, or: .latency),
      predicted: try fields.decode(.predicted, or: 0),
      method: try fields.decode(.method, or: .approximate),
      gap: try fields.decode(.gap, or: 0),
      bestSingleDevice: try fields.decodeIfPresent(SingleDevice.self, forKey: .bestSingleDevice),
      nodes: try fields.decode([Node].self, forKey: .nodes))
    parts = try fields.decode(.parts, or: [])
    holdsUpTo = try fields.decodeIfPresent([String: [Int]].self, forKey: .holdsUpTo)
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "version": version, "model": subject.model, "modelKey": subject.modelKey, "graph": subject.graph,
      "machine": subject.machine, "devices": subject.devices, "units": subject.units,
      "precision": subject.precision, "goal": goal, "predicted": predicted, "method": method, "gap": gap,
      "bestSingleDevice": JSONNull(bestSingleDevice), "nodes": nodes, "parts": parts.nonEmpty,
      "holdsUpTo": holdsUpTo,
    ]
    try document.encode(to: encoder)
  }
}
