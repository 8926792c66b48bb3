import KelvinGraph

/// One model of a pipeline, or the only one: it writes its part of a graph.
protocol ModelStage: Sendable {
  /// The features it takes. An image arrives as `[1, C, H, W]`, a number as `[1]`.
  var inputs: [Feature] { get }
  /// The features it makes.
  var outputs: [Feature] { get }
  var structure: SourceStructure { get }
  /// The classes, where it is a classifier.
  var labels: Classifier.Labels? { get }

  /// Adds what the stage uses and Kelvin lacks.
  func findMissing(_ missing: inout MissingOperations)

  /// Writes the stage's nodes.
  ///
  /// - Parameter values: the features computed so far, by name.
  /// - Throws: `FormatError`, or `GraphError` about an operation whose inputs do not fit.
  func emit(_ emitter: Emitter, _ values: [String: ValueID]) throws -> StageResult
}

extension ModelStage {
  var labels: Classifier.Labels? { nil }
  func findMissing(_ missing: inout MissingOperations) {}
}

/// What a stage computes.
struct StageResult {
  /// Features by name.
  var features: [String: ValueID] = [:]
  /// One number for each label, for classifiers.
  var probabilities: ValueID?
  /// What non-maximum suppression kept.
  var detection: (boxes: ValueID, scores: ValueID, counts: ValueID)?
}

/// Builds the one graph of a model's stages, wired by the names of features.
struct StageGraphSource: GraphSource {
  let stages: [any ModelStage]
  let inputs: [Feature]
  /// The features that become the graph's first outputs, in order.
  let outputs: [String]
  let classifier: Classifier?
  let detector: Detector?
  let file: String

  func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph {
    var missing = MissingOperations()
    for stage in stages { stage.findMissing(&missing) }
    guard missing.list.isEmpty else { throw FormatError.missing(missing.list, file: file) }
    let types = try resolveInputTypes(inputs, given: shapes, file: file)
    do { return try graph(types, evaluator) } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
  }

  private func graph(_ types: [String: TensorType], _ evaluator: any ConstantEvaluator) throws -> Graph {
    let emitter = Emitter(evaluator: evaluator)
    var values: [String: ValueID] = [:]
    for input in inputs {
      guard var type = types[input.name] else { continue }
      if type.scalar.isFloatingPoint { type.scalar = .float32 }
      values[input.name] = try emitter.input(input.name, type)
    }
    var probabilities: ValueID?
    var detection: (boxes: ValueID, scores: ValueID, counts: ValueID)?
    for stage in stages {
      let result = try stage.emit(emitter, values)
      values.merge(result.features) { _, new in new }
      probabilities = result.probabilities ?? probabilities
      detection = result.detection ?? detection
    }
    for name in outputs {
      guard let id = values[name] else { throw GraphError("output '\(name)'", "nothing computes it") }
      emitter.output(id)
    }
    if let classifier {
      guard let probabilities, emitter.shape(probabilities).count == classifier.labels.count else {
        let count = probabilities.map { emitter.shape($0).count } ?? 0
        throw GraphError("the classifier", "\(count) probabilities for \(classifier.labels.count) labels")
      }
      emitter.output(probabilities)
    }
    if detector != nil {
      guard let detection else { throw GraphError("the detector", "nothing computes its boxes") }
      for id in [detection.boxes, detection.scores, detection.counts] { emitter.output(id) }
    }
    return try emitter.finish()
  }
}
