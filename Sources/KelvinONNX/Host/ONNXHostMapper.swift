import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// A mapper from an ONNX operator on strings, dictionaries or lists to host operations.
struct ONNXHostMapper: OperationMapper {
  /// The operator's name, with its domain unless that is the standard one.
  let name: String
  /// Returns the host operations that compute the node's outputs; nil if all values of the node are tensors, so that a
  /// graph computes it.
  let map: @Sendable (ONNXHostNode) throws(FormatError) -> [Output]?

  /// A host operation that computes one or several outputs of a node.
  struct Output {
    let step: any HostOperation
    /// The outputs that hold values other than tensors.
    let hostValues: [String]

    init(step: some HostOperation, hostValues: [String]) {
      self.step = step
      self.hostValues = hostValues
    }

    init(step: some HostOperation, isHostValue: Bool) {
      self.init(step: step, hostValues: isHostValue ? step.outputs : [])
    }
  }

  init(_ name: String, _ map: @escaping @Sendable (ONNXHostNode) throws(FormatError) -> [Output]?) {
    self.name = name
    self.map = map
  }

  static let byName: [String: ONNXHostMapper] = table(all + refusedExtensions)

  static let all: [ONNXHostMapper] =
    strings + extensions + [
      .arrayFeatureExtractor, .bitCast, .castMap, .categoryMapper, .concat, .constant, .dictVectorizer, .flatten,
      .gather, .identity, .imageDecoder, .imputer, .labelEncoder, .linearClassifier, .linearRegressor, .normalizer,
      .oneHotEncoder, .reshape, .squeeze, .supportVectorClassifier, .supportVectorRegressor, .treeEnsemble,
      .treeEnsembleClassifier, .treeEnsembleRegressor, .unsqueeze, .zipMap,
    ]
}

/// The view of a node that host mappers use.
struct ONNXHostNode: ONNXNodeView {
  let node: ONNXNode
  let file: String
  /// The names of values other than tensors.
  let hostNames: Set<String>
  /// Constant strings, by name.
  let strings: [String: StringTensor]
  let initializers: [String: ONNXTensor]
  /// The low-precision types of the graph's values, by name.
  let lowPrecisionTypes: [String: ONNXLowPrecisionType]
  /// The mark of generated names: ``ONNXModel/mark``.
  let mark: String
  let files: ModelFiles

  func isHostValue(_ input: Int) -> Bool {
    node.inputs.indices.contains(input) && hostNames.contains(node.inputs[input])
  }

  func input(_ index: Int) throws(FormatError) -> String {
    guard node.inputs.indices.contains(index), !node.inputs[index].isEmpty else {
      throw malformed("input \(index) is missing")
    }
    return node.inputs[index]
  }

  func output(_ index: Int = 0) throws(FormatError) -> String {
    guard node.outputs.indices.contains(index) else { throw malformed("it has no output \(index)") }
    return node.outputs[index]
  }

  /// Returns the integers of an initializer.
  func integers(_ index: Int, _ meaning: String) throws(FormatError) -> [Int] {
    guard let tensor = initializers[try input(index)] else {
      throw unsupported("its \(meaning) depends on the input's values", remedy: "make it a constant of the model")
    }
    let values = try tensor.read(files)
    guard values.count <= 1 << 16 else { throw malformed("its \(meaning) has \(values.count) elements") }
    return values.integers
  }

  func strings(_ name: String) -> [String] { node.attributes[name]?.strings ?? [] }
  func integers(_ name: String) -> [Int64] { (node.attributes[name]?.integers ?? []).map(Int64.init) }

  /// Returns the labels of one of two attributes, or nil if the node has neither.
  func labels(strings: String, integers: String) -> Labels? {
    if !self.strings(strings).isEmpty { return .strings(self.strings(strings)) }
    return self.integers(integers).isEmpty ? nil : .integers(self.integers(integers))
  }

  func malformed(_ reason: String) -> FormatError {
    FormatError(.malformed, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset, reason)
  }
}
