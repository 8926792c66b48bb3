import KelvinGraph
import KelvinImport
import KelvinHostOperations

/// One model of a pipeline, or the only one: it writes its part of a graph.
protocol ModelStage: Sendable {
  /// The features it takes. An image arrives as `[1, C, H, W]`, a number as `[1]`.
  var inputs: [Feature] { get }
  /// The features it makes.
  var outputs: [Feature] { get }
  var structure: SourceStructure { get }
  /// The classes, where it is a classifier: its graph then writes `StageSlot.scores` too.
  var labels: Labels? { get }
  /// What makes features of its other slots on the host.
  var steps: [any HostOperation] { get }

  /// Adds what the stage uses and Kelvin lacks.
  func findMissing(_ missing: inout MissingOperations)

  /// Writes the stage's nodes.
  ///
  /// - Parameter values: the features computed so far, by name.
  /// - Returns: the features it computes and the slots that its steps read, by name.
  /// - Throws: `FormatError`, or `GraphError` about an operation whose inputs do not fit.
  func emit(_ emitter: Emitter, _ values: [String: ValueID]) throws -> [String: ValueID]
}

/// A stage that can be cut where sizes depend on data.
protocol SplittableStage: ModelStage {
  /// Its operations, with slots for what passes between them.
  ///
  /// - Parameter place: of the stage among those of its graph, which makes the slots its own.
  func operations(at place: Int) -> [StagedOperation]

  /// The stage with some of its operations.
  ///
  /// - Parameter stage: the part of the model that they lie in.
  /// - Returns: nil where they cannot be had apart.
  func part(_ operations: [Int], of stage: SizeStage, at place: Int) -> (any ModelStage)?

  /// The parts of an operation that is walked.
  ///
  /// - Parameters:
  ///   - known: the operations that make what it reads and is known.
  ///   - stage: the part of the model that it is.
  ///   - name: of its graphs, with what tells them apart behind it.
  ///   - graph: a graph of the function, by its name.
  /// - Returns: nil where they cannot be had apart.
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

/// Slots between a stage's graph and its host steps. No feature has such a name.
enum StageSlot {
  /// One number for each label of a classifier.
  static let scores = "#scores"
  /// What non-maximum suppression kept.
  static let boxes = "#boxes"
  static let boxScores = "#box_scores"
  static let boxCount = "#box_count"
}

/// Builds one graph of stages that follow each other, wired by the names of features.
struct StageGraphSource: GraphSource {
  let stages: [any ModelStage]
  /// The function's inputs that the graph takes.
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
      // The model may still take other sizes.
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
