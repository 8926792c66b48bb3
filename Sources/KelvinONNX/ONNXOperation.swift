import KelvinGraph
import KelvinImport

/// A view of a node that mappers read attributes through.
protocol ONNXNodeView {
  var node: ONNXNode { get }
  var file: String { get }
}

extension ONNXNodeView {
  func integer(_ name: String, default standard: Int) -> Int { node.attributes[name]?.integer ?? standard }
  func float(_ name: String, default standard: Float) -> Float { node.attributes[name]?.float ?? standard }
  func flag(_ name: String, default standard: Bool = false) -> Bool { integer(name, default: standard ? 1 : 0) != 0 }
  func text(_ name: String, default standard: String) -> String { node.attributes[name]?.text ?? standard }

  func unsupported(_ reason: String, remedy: String? = nil) -> FormatError {
    FormatError(
      .unsupported, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset, reason, remedy: remedy)
  }
}

/// The view of a node that mappers use: attributes, inputs and the graph under construction.
struct ONNXOperation: ONNXNodeView {
  let node: ONNXNode
  let opset: Int
  /// The inputs; nil for an omitted one.
  let inputs: [ValueID?]
  /// The inputs of operators on sequences and control flow, tensors or other values.
  let entities: [ONNXEntity?]
  /// The low-precision types of the inputs.
  let lowPrecisionTypes: [ONNXLowPrecisionType?]
  /// The inputs whose elements the mapper may request.
  let valueDependentInputs: Set<Int>
  let emitter: Emitter
  let file: String
  let files: ModelFiles

  func input(_ index: Int) throws -> ValueID {
    if let id = optional(index) { return id }
    guard index < entities.count, entities[index] != nil else { throw emitter.invalid("input \(index) is missing") }
    throw unsupported("reads '\(node.inputs[index])', a sequence or an omitted value, expected a tensor")
  }

  func optional(_ index: Int) -> ValueID? { index < inputs.count ? inputs[index] : nil }

  func lowPrecisionType(_ index: Int) -> ONNXLowPrecisionType? {
    index < lowPrecisionTypes.count ? lowPrecisionTypes[index] : nil
  }

  /// Returns the inputs, at least one, none of which may be omitted.
  func allInputs() throws -> [ValueID] {
    guard !inputs.isEmpty else { throw emitter.invalid("it has no inputs") }
    return try inputs.indices.map { try input($0) }
  }

  func integers(_ name: String) -> [Int]? {
    guard let attribute = node.attributes[name] else { return nil }
    return attribute.integers
  }

  /// Returns an input whose elements the mapper requests. Models are split before operations with such inputs. An input
  /// that the mapper did not declare would not be known.
  func valueDependent(_ index: Int) throws -> ValueID? {
    guard valueDependentInputs.contains(index) else {
      throw emitter.invalid("its mapper asks for the elements of input \(index), which it does not declare")
    }
    return optional(index)
  }

  /// Returns the constant integers of an input, or nil if the input is omitted.
  func constantIntegers(_ index: Int, _ meaning: String) throws -> [Int]? {
    guard let id = try valueDependent(index) else { return nil }
    guard let values = try emitter.integers(id) else { throw variable(meaning) }
    return values
  }

  /// Returns the single-element constant of an input, in its own type, or nil if the input is omitted.
  func constantScalar(_ index: Int, _ meaning: String) throws -> Tensor? {
    guard let id = try valueDependent(index) else { return nil }
    guard let value = emitter.scalarConstant(id) else { throw variable(meaning) }
    return value
  }

  /// Returns the constant number of an input, or nil if the input is omitted.
  func constantNumber(_ index: Int, _ meaning: String) throws -> Double? {
    guard let id = try valueDependent(index) else { return nil }
    guard let value = try emitter.number(id) else { throw variable(meaning) }
    return value
  }

  /// Returns integers that older operator sets keep in an attribute and newer ones in an input.
  func integers(attribute name: String, orInput index: Int) throws -> [Int]? {
    try integers(name) ?? constantIntegers(index, name)
  }

  private func variable(_ meaning: String) -> FormatError {
    unsupported("its \(meaning) depends on the input's values", remedy: "simplify the model so that it is constant")
  }
}

/// A mapper from an ONNX operator to Kelvin's operators.
struct ONNXMapper: OperationMapper {
  let name: String
  /// The inputs whose elements must be known while the graph is built, because sizes or the structure of the graph
  /// depend on them.
  let valueDependentInputs: Set<Int>
  /// Whether the operator reads only the shapes of its inputs.
  let readsOnlyShapes: Bool
  /// Whether the sizes of the outputs are known only after the operator ran: see `Emitter.counted`.
  let hasDataDependentShape: Bool
  let map: @Sendable (ONNXOperation) throws -> [ValueID]

  init(
    _ name: String, valueDependent valueDependentInputs: Set<Int> = [], readsOnlyShapes: Bool = false,
    hasDataDependentShape: Bool = false,
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
