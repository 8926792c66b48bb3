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

    package init(
      name: String, key: String, keys: [String: String]? = nil, inputs: [String], outputs: [Value],
      unsupported: [String: String]? = nil
    ) {
      self.name = name
      self.key = key
      self.keys = keys
      self.inputs = inputs
      self.outputs = outputs
      self.unsupported = unsupported
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

  package init(
    name: String, function: String, precision: String, threads: Int, graph: String? = nil, inputs: [Value],
    outputs: [String], nodes: [Node]
  ) {
    self.name = name
    self.function = function
    self.precision = precision
    self.threads = threads
    self.graph = graph
    self.inputs = inputs
    self.outputs = outputs
    self.nodes = nodes
  }
}
