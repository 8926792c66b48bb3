import Glibc
import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinImages
import KelvinRuntime

/// A model seen as a function from one picture to label probabilities.
struct PictureClassifier {
  private let binding: FeatureBinding
  private let inputName: String
  private let labels: [String]
  /// The position of the probabilities among the graph's outputs.
  private let output: Int
  /// Whether the output holds scores that softmax turns into probabilities.
  private let appliesSoftmax: Bool

  /// - Parameters:
  ///   - labels: in place of the model's own.
  ///   - normalization: for a model whose input is a plain tensor.
  /// - Throws: `InputError` with the remedy where the model is not a classifier of pictures, or the labels do not fit.
  init(_ model: LoadedModel, labels: [String]?, normalization: Normalization?) throws {
    var function = model.function
    inputName = try PictureInput.only(of: &function, model.context.graph, normalization)
    binding = FeatureBinding(function: function)
    let graph = model.context.graph
    if let classifier = function.classifier {
      output = classifier.graphOutput
      appliesSoftmax = false
    } else {
      output = try Self.probabilityOutput(graph, function)
      appliesSoftmax = !graph.isNormalized(graph.outputs[output])
      if appliesSoftmax {
        Console.note("output '\(graph[graph.outputs[output]].name)' holds scores; confidences are their softmax")
      }
    }
    let count = graph[graph.outputs[output]].type.count
    self.labels = labels ?? function.classifier?.labels.texts ?? (0..<count).map(String.init)
    guard self.labels.count == count else {
      let remedy = self.labels.count == count + 1 ? "; leave out the one for the background, often the first" : ""
      throw InputError("there are \(self.labels.count) labels, the model has \(count) classes\(remedy)")
    }
  }

  /// Every label with its probability, the most probable first; where classes share a label, the larger one.
  ///
  /// - Throws: `ImageError`, `RuntimeError`, `ModelError`.
  func classify(
    _ picture: DecodedImage, cropAndScale: ImageCropAndScale, in session: Session
  ) throws -> [ClassifyCommand.Observation] {
    let value = FeatureValue(image: picture.pixels, orientation: picture.orientation, cropAndScale: cropAndScale)
    try binding.write(DictionaryFeatureProvider(dictionary: [inputName: value]), to: session)
    try session.run()
    let graph = session.model.graph
    let type = graph[graph.outputs[output]].type
    var values = Tensor(type, session.withOutput(output) { Bytes(copying: $0) }).doubles
    if appliesSoftmax {
      let largest = values.max() ?? 0
      let powers = values.map { exp($0 - largest) }
      let sum = powers.reduce(0, +)
      values = powers.map { $0 / sum }
    }
    let best = Dictionary(zip(labels, values), uniquingKeysWith: max)
    return best.map { ClassifyCommand.Observation(identifier: $0.key, confidence: $0.value) }
      .sorted { ($1.confidence, $0.identifier) < ($0.confidence, $1.identifier) }
  }

  /// The output with one number for each class: the one whose name says so, or the only one of that form.
  private static func probabilityOutput(_ graph: Graph, _ function: Function) throws -> Int {
    let vectors = graph.outputs.indices.filter { index in
      let type = graph[graph.outputs[index]].type
      let isVector = type.shape.dimensions.filter { $0 != 1 }.count == 1
      return type.scalar.isFloatingPoint && isVector
    }
    let named = vectors.filter { index in
      let name = graph[graph.outputs[index]].name.lowercased()
      return name.contains("prob") || name.contains("softmax")
    }
    if let only = named.count == 1 ? named.first : vectors.count == 1 ? vectors.first : nil { return only }
    let outputs = zip(function.outputs, graph.outputs).map { "'\($0.name)' (\(graph[$1].type))" }
      .joined(separator: ", ")
    throw InputError(
      "the model has no output with one number for each class; it has \(outputs); 'kelvin predict' writes any outputs")
  }
}

extension Classifier.Labels {
  fileprivate var texts: [String] {
    switch self {
    case .strings(let labels): labels
    case .integers(let labels): labels.map(String.init)
    }
  }
}
