package import FoundationEssentials
import KelvinBasics

/// A plan as a file: what `kelvin plan --json` prints, `plan --save` writes and `--plan` takes back.
///
/// Only `version` and, for every node, `name` and `device` are needed to use a plan; everything else explains it or
/// says what it belongs to. A person may edit the devices.
package struct Plan: Hashable, Sendable {
  package static let currentVersion = 1

  package struct Device: Hashable, Sendable, Codable {
    package var id: String
    package var name: String
    package var driver: String
    package var version: String

    package init(id: String, name: String, driver: String, version: String) {
      self.id = id
      self.name = name
      self.driver = driver
      self.version = version
    }
  }

  /// What a plan belongs to.
  package struct Subject: Hashable, Sendable {
    /// As the user named it.
    package var model: String
    /// Content key of the model.
    package var modelKey: String
    /// Fingerprint of the graph that was planned: nodes, types and shapes, after passes.
    package var graph: String
    package var machine: String
    package var devices: [Device]
    package var units: String
    package var precision: String

    package init(
      model: String, modelKey: String, graph: String, machine: String, devices: [Device], units: String,
      precision: String
    ) {
      self.model = model
      self.modelKey = modelKey
      self.graph = graph
      self.machine = machine
      self.devices = devices
      self.units = units
      self.precision = precision
    }
  }

  package struct Origin: Hashable, Sendable, Codable {
    package var name: String
    /// Part of the node's cost, 0…1.
    package var share: Double

    package init(name: String, share: Double) {
      self.name = name
      self.share = share
    }
  }

  package struct SingleDevice: Hashable, Sendable, Codable {
    package var device: String
    package var predicted: Double

    package init(device: String, predicted: Double) {
      self.device = device
      self.predicted = predicted
    }
  }

  package struct Node: Hashable, Sendable {
    package var name: String
    package var op: String
    /// The operator with its attributes and the types of its operands, names left out: equal in nodes that do the same
    /// work. Nil where the plan's file does not say.
    package var computation: String?
    package var origins: [Origin]
    /// The nodes whose values this one reads, and the graph's inputs by their own names; constants are left out.
    package var inputs: [String]
    package var device: String
    package var reason: String
    package var regret: Double?
    package var candidates: [PlanCandidate]
    package var transfers: [PlannedTransfer]
    /// The control flow that the node lies in, outermost first: `loop_1/body`; empty at the top.
    package var region = ""
    /// How often one inference is expected to run the node; its seconds are those of all these runs.
    package var trips = 1.0
    /// The graph that has it, by its name in `Plan.parts`; empty where the plan has none.
    package var part = ""
    /// For a branch or loop itself, how often one inference is expected to begin one of its regions; nil for what a
    /// device computes.
    package var turns: Double?

    package init(
      name: String, op: String, origins: [Origin], inputs: [String] = [], device: String, reason: String,
      regret: Double?, candidates: [PlanCandidate], transfers: [PlannedTransfer]
    ) {
      self.name = name
      self.op = op
      self.origins = origins
      self.inputs = inputs
      self.device = device
      self.reason = reason
      self.regret = regret
      self.candidates = candidates
      self.transfers = transfers
    }

    /// Makes it the record of a branch or loop itself.
    package mutating func describeControl(turns: Double) {
      self.turns = turns
      reason = "control flow runs on the host"
    }
  }

  package var version = Plan.currentVersion
  package var subject: Subject
  package var goal: Goal
  package var predicted: Double
  package var method: PlanSolution.Method
  package var gap: Double
  package var bestSingleDevice: SingleDevice?
  package var nodes: [Node]
  /// In the order in which they run; none where the function is one graph whose sizes are known beforehand.
  package var parts: [Part] = []
  /// The largest shape of each input that the plan holds for, without parts; nil where shapes cannot vary, or each has
  /// its own plan.
  package var holdsUpTo: [String: [Int]]?

  package init(
    subject: Subject, goal: Goal, predicted: Double, method: PlanSolution.Method, gap: Double,
    bestSingleDevice: SingleDevice?, nodes: [Node]
  ) {
    self.subject = subject
    self.goal = goal
    self.predicted = predicted
    self.method = method
    self.gap = gap
    self.bestSingleDevice = bestSingleDevice
    self.nodes = nodes
  }

  /// The record of an explained plan.
  /// - Parameter describe: a node's operator, origins and inputs, by its id.
  package init(
    _ explanation: PlanExplanation, of subject: Subject, goal: Goal,
    describe: (_ node: String) -> (op: String, origins: [Origin], inputs: [String])
  ) {
    self.init(
      subject: subject, goal: goal, predicted: explanation.solution.predicted, method: explanation.solution.method,
      gap: explanation.solution.gap,
      bestSingleDevice: explanation.bestSingleDevice.map { SingleDevice(device: $0.device, predicted: $0.predicted) },
      nodes: explanation.nodes.map { record in
        let (op, origins, inputs) = describe(record.node)
        return Node(
          name: record.node, op: op, origins: origins, inputs: inputs, device: record.device, reason: record.reason,
          regret: record.regret, candidates: record.candidates,
          transfers: record.transfers.map { transfer in
            var inside = transfer
            inside.node = nil
            return inside
          })
      })
  }

  /// Node name to device, of a plan of one graph.
  package var placement: [String: String] {
    Dictionary(nodes.map { ($0.name, $0.device) }) { first, _ in first }
  }

  /// The document, keys sorted, readable.
  package func json() throws(PlanningError) -> Data {
    do {
      return try JSONText.encode(self)
    } catch {
      throw PlanningError(.invalidNumber, "plan", "cannot be written: \(error)")
    }
  }
}
