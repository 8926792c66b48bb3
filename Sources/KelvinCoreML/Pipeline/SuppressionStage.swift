import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The stage of a `NonMaximumSuppression` model: the last stage of a detector.
struct SuppressionStage: ModelStage {
  let inputs: [Feature]
  let outputs: [Feature]
  let names: Names
  let labelsOfColumns: Labels?
  let isPerClass: Bool
  let iouThreshold: Double
  let confidenceThreshold: Double
  /// The number of rows that the outputs may have.
  let rows: ClosedRange<Int>

  /// The names of the features by role. A threshold that is not an input has no name.
  struct Names: Hashable, Sendable {
    var confidence: String
    var coordinates: String
    var iouThreshold: String?
    var confidenceThreshold: String?
    var confidenceOutput: String
    var coordinatesOutput: String
  }

  init(_ model: CoreMLModel, _ inputs: [Feature], _ outputs: [Feature]) throws(FormatError) {
    typealias Fields = ClassicalSchema.NonMaximumSuppression
    let parameters = LayerParameters(model.contents)
    func name(_ field: Int) throws(FormatError) -> String? {
      let name = try parameters.text(field)
      return name.isEmpty ? nil : name
    }
    self.inputs = inputs
    self.outputs = outputs
    names = Names(
      confidence: try parameters.text(Fields.confidenceInputFeatureName),
      coordinates: try parameters.text(Fields.coordinatesInputFeatureName),
      iouThreshold: try name(Fields.iouThresholdInputFeatureName),
      confidenceThreshold: try name(Fields.confidenceThresholdInputFeatureName),
      confidenceOutput: try parameters.text(Fields.confidenceOutputFeatureName),
      coordinatesOutput: try parameters.text(Fields.coordinatesOutputFeatureName))
    labelsOfColumns = try Labels(
      parameters, strings: Fields.stringClassLabels, integers: Fields.int64ClassLabels)
    isPerClass = try parameters.message(Fields.pickTop)?.flag(Fields.PickTop.perClass) ?? false
    iouThreshold = try parameters.double(Fields.iouThreshold) ?? 0
    confidenceThreshold = try parameters.double(Fields.confidenceThreshold) ?? 0
    var rows = 0...Int.max
    for feature in model.description.main.outputs {
      guard case .array(let array) = feature.kind else { continue }
      if let range = array.ranges.first {
        rows = range
      } else if array.shape.count == 2 {
        guard array.shape[0] >= 0 else { continue }
        rows = array.shape[0]...array.shape[0]
      }
    }
    guard (0...(1 << 16)).contains(rows.lowerBound) else {
      throw FormatError(
        .malformed, file: model.contents.file, offset: model.contents.offset,
        "non-maximum suppression with at least \(rows.lowerBound) rows")
    }
    self.rows = rows
  }

  var structure: SourceStructure {
    .network(layers: [
      SourceOperation(
        name: Self.kind, kind: Self.kind, inputs: inputs.map(\.name), outputs: outputs.map(\.name))
    ])
  }

  private static let kind = "nonMaximumSuppression"

  func emit(_ emitter: Emitter, _ values: [String: ValueID]) throws -> [String: ValueID] {
    emitter.begin(
      Origin(name: Self.kind, kind: Self.kind, index: 0),
      outputNames: [names.coordinatesOutput, names.confidenceOutput])
    func value(_ name: String) throws -> ValueID {
      guard let id = values[name] else { throw emitter.invalid("nothing computes its input '\(name)'") }
      return id
    }
    let coordinates = try emitter.cast(try value(names.coordinates), to: .float32, step: "float32")
    let confidence = try emitter.cast(try value(names.confidence), to: .float32, step: "float32")
    let count = emitter.shape(coordinates).count / 4
    guard count > 0, emitter.shape(coordinates).count == 4 * count, emitter.shape(confidence).count % count == 0 else {
      throw emitter.invalid("\(emitter.type(coordinates)) and \(emitter.type(confidence)) are not boxes and scores")
    }
    let classes = emitter.shape(confidence).count / count
    if let labels = labelsOfColumns, labels.count != classes {
      throw emitter.invalid("\(classes) scores for \(labels.count) labels")
    }
    let boxes = try emitter.reshape(coordinates, [1, count, 4], step: "boxes")
    let scores = try emitter.reshape(confidence, [1, count, classes], step: "scores")
    func threshold(_ name: String?, _ standard: Double, _ step: String) throws -> ValueID {
      guard let name, let id = values[name] else { return emitter.constant(standard, .float32, step: step) }
      return try emitter.reshape(try emitter.cast(id, to: .float32, step: "float32"), [], step: step)
    }
    let overlap = try threshold(names.iouThreshold, iouThreshold, "overlap")
    let least = try threshold(names.confidenceThreshold, confidenceThreshold, "least_confidence")
    let op = NonMaximumSuppression(maximumBoxes: min(count, rows.upperBound), isPerClass: isPerClass)
    let results = try emitter.addAll(op, [boxes, scores, overlap, least])
    guard results.count == 4 else { throw emitter.invalid("\(results.count) results") }
    return [StageSlot.boxes: results[0], StageSlot.boxScores: results[1], StageSlot.boxCount: results[3]]
  }

  var steps: [any HostOperation] {
    [
      KeptBoxes(
        labels: labelsOfColumns, boxes: StageSlot.boxes, scores: StageSlot.boxScores, count: StageSlot.boxCount,
        boxesOutput: names.coordinatesOutput, scoresOutput: names.confidenceOutput, rows: rows)
    ]
  }

  /// Returns the default of a threshold input; nil for other inputs.
  func standardValue(of input: String) -> Double? {
    if input == names.iouThreshold { return iouThreshold }
    return input == names.confidenceThreshold ? confidenceThreshold : nil
  }
}
