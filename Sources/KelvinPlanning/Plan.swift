package import FoundationEssentials
import KelvinBasics

/// A plan as a file: the document that `kelvin plan --json` prints, `plan --save` writes and `--plan` reads.
///
/// A plan needs only `version` and, for every node, `name` and `device`. The other keys explain the plan or identify
/// its model and machine. Users may edit the devices. With a `mixture`, predictions alternate between its plans, and
/// `nodes` is the best single plan, which also readers that know no mixtures run.
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

  /// The model, graph and machine of a plan.
  package struct Subject: Hashable, Sendable {
    /// The model as the user named it.
    package var model: String
    /// The content key of the model.
    package var modelKey: String
    /// The fingerprint of the planned graph: nodes, types and shapes, after passes.
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
    /// The share of the node's cost, 0…1.
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
    /// The operator with its attributes and operand types, without names: equal for nodes that do the same work. Nil
    /// when the plan's file lacks it.
    package var computation: String?
    package var origins: [Origin]
    /// The nodes whose values this node reads, and the graph's inputs by name; constants are left out.
    package var inputs: [String]
    package var device: String
    package var reason: String
    package var regret: Double?
    package var candidates: [PlanCandidate]
    package var transfers: [PlannedTransfer]
    /// The control flow around the node, outermost first: `loop_1/body`; empty at the top level.
    package var region = ""
    /// The expected number of executions in one inference; the node's seconds are those of all executions.
    package var iterations = 1.0
    /// The name of the node's graph in `Plan.parts`; empty when the plan has no parts.
    package var part = ""
    /// For a branch or loop itself, the expected number of region executions in one inference; nil for computed nodes.
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

    /// The candidate on the chosen device.
    package var chosen: PlanCandidate? { candidates.first { $0.device == device } }

    /// Turns this record into that of a branch or loop itself.
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
  /// The graphs in execution order; empty when the function is one graph whose sizes are known beforehand.
  package var parts: [Part] = []
  /// The largest shape of each input for which the plan is valid, if the plan has no parts. Nil when shapes cannot vary
  /// or each shape has its own plan.
  package var holdsUpTo: [String: [Int]]?
  /// The plans between which predictions alternate, if the plan has no parts; nil for one plan.
  package var mixture: PlanMixture?

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

  /// Creates the record of an explained plan.
  ///
  /// - Parameter describe: returns a node's operator, origins and inputs, by its id.
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
    mixture = explanation.solution.mixture
  }

  /// The device of each node by name, for a plan of one graph.
  package var placement: [String: String] {
    Dictionary(nodes.map { ($0.name, $0.device) }) { first, _ in first }
  }

  /// Returns the document as formatted JSON with sorted keys.
  package func json() throws(PlanningError) -> Data {
    do {
      return try JSONText.encode(self)
    } catch {
      throw PlanningError(.invalidNumber, "plan", "cannot be written: \(error)")
    }
  }
}
