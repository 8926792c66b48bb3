/// A model file's own structure, in its own names.
package indirect enum SourceStructure: Sendable {
  case program(functions: [String: SourceBlock])
  /// A flat list of layers, as in NeuralNetwork and ONNX files.
  case network(layers: [SourceOperation])
  case pipeline(stages: [(name: String, structure: SourceStructure)])
}

/// The type of a value in a program file.
package struct SourceType: Hashable, Sendable {
  /// The type of the elements; nil for a value that is no tensor of numbers, such as a string or a list.
  package var scalar: ScalarType?
  /// The sizes; nil for an unknown size.
  package var sizes: [Int?]
  /// Whether the value is a state that holds such a tensor.
  package var isState: Bool

  package init(scalar: ScalarType?, sizes: [Int?], isState: Bool) {
    self.scalar = scalar
    self.sizes = sizes
    self.isState = isState
  }
}

package struct SourceBlock: Sendable {
  package var inputs: [String]
  /// The types of the inputs; empty if the format states none.
  package var inputTypes: [SourceType] = []
  package var outputs: [String]
  package var operations: [SourceOperation]

  package init(inputs: [String], outputs: [String], operations: [SourceOperation]) {
    self.inputs = inputs
    self.outputs = outputs
    self.operations = operations
  }
}

package struct SourceOperation: Sendable {
  /// The values that an operation reads under one name; an inline value has no name.
  package struct Argument: Sendable {
    package var name: String
    package var values: [String?]

    package init(name: String, values: [String?]) {
      self.name = name
      self.values = values
    }
  }

  package var name: String
  package var kind: String
  package var inputs: [String]
  /// The values by the names of arguments, if the format has argument names.
  package var arguments: [Argument]
  package var outputs: [String]
  /// The types of the outputs; empty if the format states none.
  package var outputTypes: [SourceType] = []
  package var blocks: [SourceBlock]

  package init(
    name: String, kind: String, inputs: [String], arguments: [Argument] = [], outputs: [String],
    blocks: [SourceBlock] = []
  ) {
    self.name = name
    self.kind = kind
    self.inputs = inputs
    self.arguments = arguments
    self.outputs = outputs
    self.blocks = blocks
  }
}
