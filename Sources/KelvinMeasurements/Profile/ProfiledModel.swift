import KelvinBasics

/// The work of a node, from which its cost is estimated when it was not measured.
package struct NodeWork: Sendable, Hashable, Codable {
  package var op: String
  /// Floating-point operations, a multiply-add counted as two.
  package var operations: Double
  /// Bytes read and written, counted once each, weights included.
  package var bytes: Double

  package init(op: String, operations: Double, bytes: Double) {
    self.op = op
    self.operations = operations
    self.bytes = bytes
  }
}

/// A graph in the form that planning needs: nodes, and edges with bytes. It permits planning without the model's file.
package struct ProfiledModel: Sendable, Hashable, Codable {
  package struct Value: Sendable, Hashable {
    package var value: String
    package var bytes: Int
    /// The number of times that one inference makes each copy; infinite for a value that is never copied.
    package var copies: Double

    package init(value: String, bytes: Int, copies: Double = 1) {
      self.value = value
      self.bytes = bytes
      self.copies = copies
    }
  }

  /// A constant that a device keeps to run a node.
  package struct Weight: Sendable, Hashable, Codable {
    /// Nodes with the same weight share it.
    package var weight: String
    package var bytes: Int
    /// The devices that pack it in this form; nil for every device that no weight of the model names.
    package var devices: [String]?

    package init(weight: String, bytes: Int, devices: [String]? = nil) {
      self.weight = weight
      self.bytes = bytes
      self.devices = devices
    }
  }

  /// The role of a node that no device computes.
  package enum Role: String, Sendable, Hashable, Codable {
    /// State that persists between inferences; it takes no time on any device.
    case state
    /// Control flow: the host executes its steps, and its output is the signal that starts devices.
    case branch, loop
  }

  package struct Node: Sendable, Hashable, Codable {
    package var name: String
    /// Nil for a node that a device computes.
    package var role: Role?
    /// The key in `MeasuredProfile.nodes` and `work`, on every device that is not in `keys`.
    package var key: String
    /// By device, the keys for devices that compute the node in another precision.
    package var keys: [String: String]?
    package var inputs: [String]
    package var outputs: [Value]
    /// Nil for none, or for a node of a profile that does not contain weights.
    package var weights: [Weight]?
    /// By device, the reason why it cannot run the node.
    package var unsupported: [String: String]?
    /// The node and role of each region around it, outermost first; nil at the top level.
    package var region: String?
    /// The number of executions in one inference; for a branch or loop, of its regions. Nil means once.
    package var runs: Double?

    package init(
      name: String, role: Role? = nil, key: String, keys: [String: String]? = nil, inputs: [String], outputs: [Value],
      weights: [Weight]? = nil, unsupported: [String: String]? = nil, region: String? = nil, runs: Double? = nil
    ) {
      self.weights = weights
      self.name = name
      self.role = role
      self.runs = runs
      self.key = key
      self.keys = keys
      self.inputs = inputs
      self.outputs = outputs
      self.unsupported = unsupported
      self.region = region
    }

    package func key(on device: String) -> String { keys?[device] ?? key }
  }

  /// The model as the user named it.
  package var name: String
  package var function: String
  /// The requested precision; the nodes' keys contain the effective one.
  package var precision: String
  package var threads: Int
  /// The fingerprint of the graph; a saved plan is valid for it only.
  package var graph: String?
  package var inputs: [Value]
  package var outputs: [String]
  /// The values that control flow writes on the host, and those that it reads there.
  package var hostWrites: [Value]?
  package var hostReads: [String]?
  /// The nodes, including branches, loops and states, each before the nodes that it contains.
  package var nodes: [Node]
  /// By loop, the mean number of iterations per execution; nil when the model has no loop.
  package var trips: [String: Double]?
  /// By branch, the share of executions that took its first side.
  package var thenShares: [String: Double]?
  /// Whether the model has branches, loops or states.
  package var hasControl: Bool?

  package init(
    name: String, function: String, precision: String, threads: Int, graph: String? = nil, inputs: [Value],
    outputs: [String], nodes: [Node], trips: [String: Double]? = nil, thenShares: [String: Double]? = nil,
    hasControl: Bool? = nil, hostWrites: [Value]? = nil, hostReads: [String]? = nil
  ) {
    self.name = name
    self.hostWrites = hostWrites
    self.hostReads = hostReads
    self.function = function
    self.precision = precision
    self.threads = threads
    self.graph = graph
    self.inputs = inputs
    self.outputs = outputs
    self.nodes = nodes
    self.trips = trips
    self.thenShares = thenShares
    self.hasControl = hasControl
  }
}

/// `copies` is optional with default 1, and `"never"` for a value that is not copied.
extension ProfiledModel.Value: Codable {
  private enum CodingKeys: String, CodingKey { case value, bytes, copies }

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
      copies: copies)
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "value": value, "bytes": bytes, "copies": copies == .infinity ? Self.never : copies == 1 ? nil : copies,
    ]
    try document.encode(to: encoder)
  }
}
