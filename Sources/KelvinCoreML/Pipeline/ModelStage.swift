import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// One model of a pipeline, or a single model, which emits its part of a graph.
protocol ModelStage: Sendable {
  /// The input features. An image has the shape `[1, C, H, W]`, a number `[1]`.
  var inputs: [Feature] { get }
  /// The output features.
  var outputs: [Feature] { get }
  var structure: SourceStructure { get }
  /// The classes of a classifier. Its graph then also writes `StageSlot.scores`.
  var labels: Labels? { get }
  /// The host operations that compute features from the stage's other slots.
  var steps: [any HostOperation] { get }

  /// Adds the operations of the stage that are not supported.
  func findMissing(_ missing: inout MissingOperations)

  /// Emits the stage's nodes.
  ///
  /// - Parameter values: The features computed so far, by name.
  /// - Returns: The features that the stage computes and the slots that its host operations read, by name.
  /// - Throws: `FormatError`, or `GraphError` about an operation with invalid inputs.
  func emit(_ emitter: Emitter, _ values: [String: ValueID]) throws -> [String: ValueID]
}

/// A stage that can be split at data-dependent sizes.
protocol SplittableStage: ModelStage {
  /// Returns the operations of the stage, with slots for the values between them.
  ///
  /// - Parameter place: The index of the stage among the stages of its graph, which makes its slots unique.
  func operations(at place: Int) -> [StagedOperation]

  /// Returns the stage with some of its operations.
  ///
  /// - Parameter stage: The part of the model that contains the operations.
  /// - Returns: Nil if the operations cannot be separated.
  func part(_ operations: [Int], of stage: SizeStage, at place: Int) -> (any ModelStage)?

  /// Returns the parts of an operation that the host executes.
  ///
  /// - Parameters:
  ///   - known: The operations that compute those inputs that are known while graphs are built.
  ///   - stage: The part of the model that consists of the operation.
  ///   - name: The prefix of the names of its graphs.
  ///   - graph: Returns a graph of the function, given its name and contents.
  /// - Returns: Nil if the parts cannot be separated.
  func hostParts(
    _ operation: Int, known: [Int], of stage: SizeStage, at place: Int, name: String,
    graph: (String, StageGroup) -> FunctionPart
  ) -> [FunctionPart]?
}

extension ModelStage {
  var labels: Labels? { nil }
  var steps: [any HostOperation] { [] }
  func findMissing(_ missing: inout MissingOperations) {}
}

/// Slots between a stage's graph and its host operations. These names cannot be names of features.
enum StageSlot {
  /// One number for each label of a classifier.
  static let scores = "#scores"
  /// The boxes that non-maximum suppression kept.
  static let boxes = "#boxes"
  static let boxScores = "#box_scores"
  static let boxCount = "#box_count"
}

/// Builds one graph of consecutive stages, connected by the names of features.
struct StageGraphSource: GraphSource {
  let stages: [any ModelStage]
  /// The function's inputs that the graph reads.
  let inputs: [Feature]
  /// The features and slots that become the graph's outputs, in order.
  let outputs: [String]
  let file: String

  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    try graph(shapes: shapes, computed: computed, values: [:], evaluator: evaluator)
  }

  func graph(
    shapes: [String: Shape], computed: [String: TensorType], values: [String: Tensor], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    var missing = MissingOperations()
    for stage in stages { stage.findMissing(&missing) }
    guard missing.list.isEmpty else { throw FormatError.missing(missing.list, file: file) }
    let unknown = inputs.filter { values[$0.name] == nil }
    let types = try resolveInputTypes(unknown, given: shapes, computed: computed, file: file)
    do { return try graph(types, computed, values, evaluator) } catch let error as GraphError {
      // The model may still accept other sizes.
      if error.isAboutSizes, inputs.contains(where: { $0.hasOpenSizes && shapes[$0.name] == nil }) { throw error }
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
  }

  private func graph(
    _ types: [String: TensorType], _ computed: [String: TensorType], _ known: [String: Tensor],
    _ evaluator: any ConstantEvaluator
  ) throws -> Graph {
    let emitter = Emitter(evaluator: evaluator)
    var values: [String: ValueID] = [:]
    for (slot, tensor) in known.sorted(by: { $0.key < $1.key }) {
      let isFloat = tensor.type.scalar.isFloatingPoint
      values[slot] = emitter.constant(named: slot, Weight(isFloat ? tensor.converted(to: .float32) : tensor))
    }
    for input in inputs {
      guard var type = types[input.name] else { continue }
      if type.scalar.isFloatingPoint { type.scalar = .float32 }
      values[input.name] = try emitter.input(input.name, type)
    }
    for (slot, type) in computed.sorted(by: { $0.key < $1.key }) { values[slot] = try emitter.input(slot, type) }
    for stage in stages { values.merge(try stage.emit(emitter, values)) { _, new in new } }
    emitter.outputs(
      try outputs.map { name in
        guard let id = values[name] else { throw GraphError("output '\(name)'", "nothing computes it") }
        return id
      })
    return try emitter.finish()
  }
}
