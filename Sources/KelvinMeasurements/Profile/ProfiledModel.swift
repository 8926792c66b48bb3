/// What a node does, by which its cost is estimated where it was not measured.
package struct NodeWork: Sendable, Hashable, Codable {
  package var op: String
  /// Floating-point operations, a multiply-add counted as two.
  package var operations: Double
  /// Bytes read and written once each, weights included.
  package var bytes: Double

  package init(op: String, operations: Double, bytes: Double) {
    self.op = op
    self.operations = operations
    self.bytes = bytes
  }
}

/// A graph as planning needs it: nodes, and edges with bytes. With it a profile plans without the model's file.
package struct ProfiledModel: Sendable, Hashable, Codable {
  package struct Value: Sendable, Hashable {
    package var value: String
    package var bytes: Int
    /// How often one inference makes each copy of it; infinite for one that is never copied.
    package var copies: Double

    package init(value: String, bytes: Int, copies: Double = 1) {
      self.value = value
      self.bytes = bytes
      self.copies = copies
    }
  }

  /// What a node is that no device computes.
  package enum Role: String, Sendable, Hashable, Codable {
    /// Memory that lasts from one inference to the next: it takes no time, anywhere.
    case state
    /// Control flow: the host takes steps for it, and its output is the signal by which it starts devices.
    case branch, loop
  }

  package struct Node: Sendable, Hashable, Codable {
    package var name: String
    /// Nil for what a device computes.
    package var role: Role?
    /// Under which `MeasuredProfile.nodes` and `work` have it, on every device that `keys` does not name.
    package var key: String
    /// By device, the keys of those that compute the node in another precision.
    package var keys: [String: String]?
    package var inputs: [String]
    package var outputs: [Value]
    /// By device, why it cannot run the node.
    package var unsupported: [String: String]?
    /// The node and role of each region around it, outermost first; nil at the top.
    package var region: String?
    /// How often one inference runs it, or of a branch or loop, begins one of its regions; nil for once.
    package var runs: Double?

    package init(
      name: String, role: Role? = nil, key: String, keys: [String: String]? = nil, inputs: [String], outputs: [Value],
      unsupported: [String: String]? = nil, region: String? = nil, runs: Double? = nil
    ) {
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

  /// As the user named the model.
  package var name: String
  package var function: String
  /// As it was asked for; the nodes' keys have what it came to.
  package var precision: String
  package var threads: Int
  /// The graph's fingerprint: a saved plan holds for it alone.
  package var graph: String?
  package var inputs: [Value]
  package var outputs: [String]
  /// Values that control flow writes on the host, and those that it reads there.
  package var hostWrites: [Value]?
  package var hostReads: [String]?
  /// Branches, loops and states among them, each before what it holds.
  package var nodes: [Node]
  /// By loop, the trips that it made each time that it was reached; nil where the model has no loop.
  package var trips: [String: Double]?
  /// By branch, the share in which it took its first side.
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

/// `copies` may be absent, which means 1; `"never"` where a value is not copied.
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
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(value, forKey: .value)
    try fields.encode(bytes, forKey: .bytes)
    if copies == .infinity { try fields.encode(Self.never, forKey: .copies) }
    if copies != 1, copies != .infinity { try fields.encode(copies, forKey: .copies) }
  }
}
