import KelvinGraph
import KelvinImport

/// One node as its mapper sees it: attributes, inputs and the graph to write to.
struct ONNXOperation {
  let node: ONNXNode
  let opset: Int
  /// The inputs, nil where one is left out.
  let inputs: [ValueID?]
  /// What operators on sequences and control flow read, tensors or not.
  let entities: [ONNXEntity?]
  /// Of the inputs whose elements have narrow types.
  let lowPrecisionTypes: [ONNXLowPrecisionType?]
  /// The inputs whose elements the mapper may ask for.
  let valueDependentInputs: Set<Int>
  let emitter: Emitter
  let file: String
  let files: ModelFiles

  func input(_ index: Int) throws -> ValueID {
    if let id = optional(index) { return id }
    guard index < entities.count, entities[index] != nil else { throw emitter.invalid("input \(index) is missing") }
    throw unsupported("reads '\(node.inputs[index])', a sequence or a value that is left out, expected a tensor")
  }

  func optional(_ index: Int) -> ValueID? { index < inputs.count ? inputs[index] : nil }

  func lowPrecisionType(_ index: Int) -> ONNXLowPrecisionType? { index < lowPrecisionTypes.count ? lowPrecisionTypes[index] : nil }

  /// The inputs, none of which may be left out; at least one.
  func allInputs() throws -> [ValueID] {
    guard !inputs.isEmpty else { throw emitter.invalid("it has no inputs") }
    return try inputs.indices.map { try input($0) }
  }

  func integer(_ name: String, default standard: Int) -> Int { node.attributes[name]?.integer ?? standard }
  func float(_ name: String, default standard: Float) -> Float { node.attributes[name]?.float ?? standard }
  func flag(_ name: String, default standard: Bool = false) -> Bool { integer(name, default: standard ? 1 : 0) != 0 }
  func text(_ name: String, default standard: String) -> String { node.attributes[name]?.text ?? standard }

  func integers(_ name: String) -> [Int]? {
    guard let attribute = node.attributes[name] else { return nil }
    return attribute.integers
  }

  /// An input whose elements are asked for. Models are cut before operations that do: what their mappers have not said
  /// would not be known there.
  func valueDependent(_ index: Int) throws -> ValueID? {
    guard valueDependentInputs.contains(index) else {
      throw emitter.invalid("its mapper asks for the elements of input \(index), which it does not declare")
    }
    return optional(index)
  }

  /// The constant integers of an input; nil where the input is left out.
  func constantIntegers(_ index: Int, _ meaning: String) throws -> [Int]? {
    guard let id = try valueDependent(index) else { return nil }
    guard let values = try emitter.integers(id) else { throw variable(meaning) }
    return values
  }

  /// The constant of one element of an input, in its own type; nil where the input is left out.
  func constantScalar(_ index: Int, _ meaning: String) throws -> Tensor? {
    guard let id = try valueDependent(index) else { return nil }
    guard let value = emitter.scalarConstant(id) else { throw variable(meaning) }
    return value
  }

  /// The constant number of an input; nil where the input is left out.
  func constantNumber(_ index: Int, _ meaning: String) throws -> Double? {
    guard let id = try valueDependent(index) else { return nil }
    guard let value = try emitter.number(id) else { throw variable(meaning) }
    return value
  }

  /// What older operator sets keep in an attribute and newer ones in an input.
  func integers(attribute name: String, orInput index: Int) throws -> [Int]? {
    try integers(name) ?? constantIntegers(index, name)
  }

  func unsupported(_ reason: String, remedy: String? = nil) -> FormatError {
    FormatError(
      .unsupported, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset, reason, remedy: remedy)
  }

  private func variable(_ meaning: String) -> FormatError {
    unsupported("its \(meaning) depends on the input's values", remedy: "simplify the model so that it is constant")
  }
}

/// How an ONNX operator is written in Kelvin's operators.
struct ONNXMapper: OperationMapper {
  let name: String
  /// The inputs whose elements it asks for, because sizes or the form of the graph depend on them.
  let valueDependentInputs: Set<Int>
  /// Whether of its inputs it reads the shapes alone.
  let readsOnlyShapes: Bool
  /// Whether its outputs have their size when it has run: see `Emitter.counted`.
  let hasDataDependentShape: Bool
  let map: @Sendable (ONNXOperation) throws -> [ValueID]

  init(
    _ name: String, valueDependent valueDependentInputs: Set<Int> = [], readsOnlyShapes: Bool = false, hasDataDependentShape: Bool = false,
    _ map: @escaping @Sendable (ONNXOperation) throws -> [ValueID]
  ) {
    self.name = name
    self.valueDependentInputs = valueDependentInputs
    self.readsOnlyShapes = readsOnlyShapes
    self.hasDataDependentShape = hasDataDependentShape
    self.map = map
  }

  static let byName: [String: ONNXMapper] = table(onnxMappers)
}
