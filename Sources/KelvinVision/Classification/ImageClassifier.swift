import Glibc
package import Kelvin
package import KelvinBasics
package import KelvinEngine
package import KelvinGraph
package import KelvinHostOperations
package import KelvinRuntime

/// A model as a function from one image to label probabilities.
package struct ImageClassifier: Sendable {
  private enum Answer: Sendable {
    /// The name of the output with the probability of each label.
    case probabilities(String)
    /// The name of the output with one number for each label; scores are converted to probabilities by softmax.
    case numbers(String, labels: [String], areScores: Bool, areDistinct: Bool)
  }

  /// The model's function with an image input.
  package let function: Function
  /// Remarks for the user about the answers, such as that they are the softmax of scores.
  package let remarks: [String]
  /// The precision and recall curves in the model itself, by the labels that its classes are given.
  package var ownCurves: [ExactString: PrecisionRecallCurve] { function.classification?.curvesByLabel ?? [:] }
  package let inputName: String
  /// The input that takes the image.
  let image: ImageFeature
  /// The names of the classes.
  let labels: [String]
  private let answer: Answer

  /// Creates a classifier.
  ///
  /// - Parameters:
  ///   - labels: The names of the classes, in place of the model's own.
  ///   - normalization: The normalization for a model whose input is a plain tensor.
  ///   - vector: The name of an output that does not hold classes.
  /// - Throws: `VisionError` with the remedy where the model does not classify images, or the number of labels does not
  ///   match.
  package init(
    _ model: LoadedModel, labels: [String]?, normalization: PixelNormalization?, excluding vector: String? = nil
  ) throws(VisionError) {
    var function = model.function
    (inputName, image) = try ImageInput.only(of: &function, model.context.graph, normalization)
    let graph = model.context.graph
    if let known = function.classification {
      try Self.check(labels?.count ?? known.labels.count, of: known.labels.count)
      if let labels { function = function.relabeled(.strings(labels)) }
      self.labels = (function.classification ?? known).labels.strings
      answer = .probabilities(function.probabilitiesOutput(known))
      remarks = []
    } else {
      let index = try Self.probabilityOutput(graph, model.shown.part, function, excluding: vector)
      let (name, count) = (model.shown.part.outputs[index], graph[graph.outputs[index]].type.count)
      let labels = labels ?? (0..<count).map(String.init)
      try Self.check(labels.count, of: count)
      self.labels = labels
      let areScores = !graph.isNormalized(graph.outputs[index])
      remarks = areScores ? ["output '\(name)' holds scores; confidences are their softmax"] : []
      answer = .numbers(
        name, labels: labels, areScores: areScores, areDistinct: Set(labels.exact).count == labels.count)
    }
    self.function = function
  }

  private static func check(_ labels: Int, of classes: Int) throws(VisionError) {
    guard labels != classes else { return }
    let remedy = labels == classes + 1 ? "; leave out the one for the background, often the first" : ""
    throw .invalidModel("there are \(labels) labels, the model has \(classes) classes\(remedy)")
  }

  /// Returns every label with its probability, the most probable first. Of classes that share a label, the larger
  /// probability is returned.
  ///
  /// - Parameters:
  ///   - predictor: A predictor of `function`.
  ///   - region: The part of the upright image that is classified; nil for all.
  /// - Throws: `ModelError`.
  package func classify(
    _ image: PixelBuffer, _ orientation: ImageOrientation, region: PixelRect? = nil,
    _ cropAndScale: ImageCropAndScale,
    by predictor: Predictor, _ cancellation: Cancellation? = nil
  ) throws(ModelError) -> [(label: String, confidence: Double)] {
    let value = FeatureValue(image: image, orientation: orientation, cropAndScale: cropAndScale, cropRect: region)
    let provider = DictionaryFeatureProvider(dictionary: [inputName: value])
    return classes(in: try predictor.run(provider, [:], cancellation).features)
  }

  /// Returns the labels and probabilities in the outputs of `function`, as `classify` does.
  package func classes(in outputs: DictionaryFeatureProvider) -> [(label: String, confidence: Double)] {
    let best: [ExactString: Double]
    switch answer {
    case .probabilities(let name):
      let entries = outputs[name]?.dictionaryValue ?? [:]
      best = Dictionary(entries.map { (ExactString($0.key.description), $0.value) }, uniquingKeysWith: max)
    case .numbers(let name, let labels, let areScores, let areDistinct):
      let numbers = outputs[name]?.multiArrayValue?.doubles ?? []
      let confidences = areScores ? softmax(numbers) : numbers
      if areDistinct { return Self.sorted(zip(labels, confidences).map { (label: $0, confidence: $1) }) }
      best = Dictionary(zip(labels.exact, confidences), uniquingKeysWith: max)
    }
    return Self.sorted(best.map { (label: $0.key.string, confidence: $0.value) })
  }

  private static func sorted(
    _ classes: [(label: String, confidence: Double)]
  ) -> [(label: String, confidence: Double)] {
    classes.sorted { ($1.confidence, $0.label) < ($0.confidence, $1.label) }
  }

  /// Returns the index of the output with one number for each class: the one with a typical name, or the only vector.
  private static func probabilityOutput(
    _ graph: Graph, _ part: GraphPart, _ function: Function, excluding vector: String?
  ) throws(VisionError) -> Int {
    let names = Set(function.outputs.map(\.name)).subtracting(vector.map { [$0] } ?? [])
    let vectors = graph.outputs.indices.filter { index in
      guard names.contains(part.outputs[index]) else { return false }
      let type = graph[graph.outputs[index]].type
      let isVector = type.shape.dimensions.filter { $0 != 1 }.count == 1
      return type.scalar.isFloatingPoint && isVector
    }
    let named = vectors.filter { index in
      let name = graph[graph.outputs[index]].name.lowercased()
      return name.contains("prob") || name.contains("softmax")
    }
    if let only = named.count == 1 ? named.first : vectors.count == 1 ? vectors.first : nil { return only }
    let outputs = function.outputs.map { "'\($0.name)' (\($0.type.text))" }.joined(separator: ", ")
    throw .invalidModel("the model has no output with one number for each class; it has \(outputs)")
  }
}

extension Function {
  /// Returns the name of the output with label probabilities, and adds such an output where the function has none.
  fileprivate mutating func probabilitiesOutput(_ known: Classification) -> String {
    if let name = known.probabilitiesOutput { return name }
    let name = "#probabilities"
    parts.append(.host(LabelDictionary(classification?.labels ?? known.labels, scores: known.scores, output: name)))
    outputs.append(Feature(name: name, type: .dictionary(keys: known.labels.isString ? .string : .int64)))
    return name
  }
}
