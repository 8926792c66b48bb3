import KelvinGraph
import KelvinImport
import KelvinHostOperations

/// How an ONNX operator on strings, dictionaries or lists is written as host steps.
struct ONNXHostMapper: OperationMapper {
  /// With its domain, where that is not the standard one.
  let name: String
  /// What the node's outputs are, and the steps that make them; nil where a graph computes it: all its values are
  /// tensors.
  let map: @Sendable (ONNXHostNode) throws(FormatError) -> [Output]?

  /// A step that makes one output of a node, or several.
  struct Output {
    let step: any HostOperation
    /// Those of its outputs that hold something else than tensors.
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

  static let byName: [String: ONNXHostMapper] = table(all)

  static let all: [ONNXHostMapper] =
    strings + [
      .arrayFeatureExtractor, .bitCast, .castMap, .categoryMapper, .concat, .constant, .dictVectorizer, .flatten,
      .gather, .identity, .imageDecoder, .imputer, .labelEncoder, .linearClassifier, .linearRegressor, .normalizer,
      .oneHotEncoder, .reshape, .squeeze, .supportVectorClassifier, .supportVectorRegressor, .treeEnsemble,
      .treeEnsembleClassifier, .treeEnsembleRegressor, .unsqueeze, .zipMap,
    ]
}

/// A node as a host mapper sees it.
struct ONNXHostNode {
  let node: ONNXNode
  let file: String
  /// The names that hold something else than tensors.
  let hostNames: Set<String>
  /// Constant strings, by name.
  let strings: [String: StringTensor]
  let initializers: [String: ONNXTensor]
  /// Of the graph's values whose elements have narrow types.
  let lowPrecisionTypes: [String: ONNXLowPrecisionType]
  /// See ``ONNXModel/mark``.
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

  /// The integers of an initialiser.
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

  /// Labels under one of two attributes; nil for neither.
  func labels(strings: String, integers: String) -> Labels? {
    if !self.strings(strings).isEmpty { return .strings(self.strings(strings)) }
    return self.integers(integers).isEmpty ? nil : .integers(self.integers(integers))
  }

  func malformed(_ reason: String) -> FormatError {
    FormatError(.malformed, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset, reason)
  }

  func unsupported(_ reason: String, remedy: String? = nil) -> FormatError {
    FormatError(
      .unsupported, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset, reason, remedy: remedy)
  }
}
