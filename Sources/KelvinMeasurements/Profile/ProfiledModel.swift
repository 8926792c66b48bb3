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
  package struct Value: Sendable, Hashable, Codable {
    package var value: String
    package var bytes: Int

    package init(value: String, bytes: Int) {
      self.value = value
      self.bytes = bytes
    }
  }

  package struct Node: Sendable, Hashable, Codable {
    package var name: String
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

    package init(
      name: String, key: String, keys: [String: String]? = nil, inputs: [String], outputs: [Value],
      unsupported: [String: String]? = nil, region: String? = nil
    ) {
      self.name = name
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
  package var nodes: [Node]
  /// By loop, the trips that it made each time that it was reached; nil where the model has no loop.
  package var trips: [String: Double]?
  /// By branch, the share in which it took its first side.
  package var thenShares: [String: Double]?
  /// Whether the model has branches, loops or states, which the nodes alone do not tell.
  package var hasControl: Bool?

  package init(
    name: String, function: String, precision: String, threads: Int, graph: String? = nil, inputs: [Value],
    outputs: [String], nodes: [Node], trips: [String: Double]? = nil, thenShares: [String: Double]? = nil,
    hasControl: Bool? = nil
  ) {
    self.name = name
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
