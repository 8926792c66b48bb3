public import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinGraph
import KelvinHostOperations
import KelvinIndex
import KelvinRuntime
public import KelvinVision

/// A model for indexing images: it gives the classes of an image, a vector for comparing images, or both.
public struct PhotoModel: Sendable {
  /// The settings that change the model's answers. Indexes with different settings are not compatible.
  struct Settings: Hashable, Sendable {
    var labels: [String]?
    var normalization: PixelNormalization?
    var embedding: String?
    var cropAndScale: ImageCropAndScale
  }

  /// The model that is run.
  public let model: Model
  /// The method that fits an image to the model's input size.
  public let cropAndScaleAction: ImageCropAndScale
  /// The name of the output with an image's vector; nil where the model has none.
  public let embeddingFeatureName: String?
  /// The number of elements of an image's vector; 0 where the model has none.
  public let embeddingCount: Int
  /// Remarks about the answers.
  public let remarks: [String]

  let settings: Settings
  /// The precision and recall curves of the classes, by label.
  let curves: [ExactString: PrecisionRecallCurve]
  private let classifier: ImageClassifier?
  private let inputName: String
  private let predictor: Predictor

  /// Creates a model for indexing.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - labels: The names of the classes, in place of the model's own.
  ///   - normalization: The normalization of pixels for a model whose input is a plain tensor.
  ///   - embedding: The name of the output with an image's vector. If nil, the only vector output with "embed" or
  ///     "feature" in its name; for a model without class names and `labels`, also its only vector output.
  ///   - cropAndScaleAction: The method that fits an image to the model's input size.
  ///   - curves: The precision and recall curves of the classes, in place of the model's.
  /// - Throws: `VisionError`: `invalidModel` for a model that gives neither classes nor a vector, or lacks the named
  ///   output; `missingNormalization`; `invalidRequest` for an unsuitable normalization.
  public init(
    model: Model, labels: [String]? = nil, normalization: PixelNormalization? = nil, embedding: String? = nil,
    cropAndScaleAction: ImageCropAndScale = .centerCrop, curves: PrecisionRecallCurves? = nil
  ) throws(VisionError) {
    let vectors = Self.vectors(of: model)
    let namesClasses = labels != nil || model.loaded.function.classification != nil
    let chosen = try Self.embedding(vectors, named: embedding, namesClasses: namesClasses)
    self.model = model
    self.cropAndScaleAction = cropAndScaleAction
    settings = Settings(
      labels: labels, normalization: normalization, embedding: chosen?.name, cropAndScale: cropAndScaleAction)
    (embeddingFeatureName, embeddingCount) = (chosen?.name, chosen?.count ?? 0)
    if namesClasses || chosen == nil {
      let classifier = try ImageClassifier(
        model.loaded, labels: labels, normalization: normalization, excluding: chosen?.name)
      self.classifier = classifier
      let known =
        if let curves { curves } else { try PrecisionRecallCurves(of: model, own: classifier.ownCurves) }
      self.curves = known.byLabel
      inputName = classifier.inputName
      remarks = classifier.remarks
      predictor = model.predictor(of: classifier.function)
    } else {
      var function = model.loaded.function
      inputName = try ImageInput.only(of: &function, model.loaded.context.graph, normalization).name
      classifier = nil
      self.curves = [:]
      remarks =
        embedding == nil
        ? [
          "output '\(chosen?.name ?? "")' is used as an image vector; give --labels if it holds class scores"
        ] : []
      predictor = model.predictor(of: function)
    }
  }

  /// Returns a configuration for many images: a plan for throughput and, unless the configuration sets a number, one
  /// thread per prediction.
  public static func configuration(_ configuration: ModelConfiguration = ModelConfiguration()) -> ModelConfiguration {
    var many = configuration
    many.goal = .throughput
    many.threadCount = configuration.threadCount ?? 1
    return many
  }

  /// The usual number of images that are processed concurrently: one per processor, plus one where another device
  /// computes while the host prepares the next image.
  var usualWorkerCount: Int { defaultThreadCount + (predictor.usesOtherDevices ? 1 : 0) }

  /// Runs the model on an image and returns every class, the most probable first, and the vector.
  ///
  /// - Throws: `ModelError`.
  func look(
    at image: DecodedImage, _ cancellation: Cancellation?
  ) throws(ModelError) -> (classes: [(label: String, confidence: Float)], vector: [Float]?) {
    let value = FeatureValue(
      image: image.pixels, orientation: image.orientation, cropAndScale: cropAndScaleAction, cropRect: nil)
    let provider = DictionaryFeatureProvider(dictionary: [inputName: value])
    let outputs = try predictor.run(provider, [:], cancellation).features
    let classes = classifier?.classes(in: outputs).map { ($0.label, Float($0.confidence)) } ?? []
    return (classes, embeddingFeatureName.flatMap { outputs[$0]?.multiArrayValue?.floats })
  }

  private typealias Vector = (name: String, count: Int)

  /// Returns the floating-point outputs with a single axis longer than 1.
  private static func vectors(of model: Model) -> [Vector] {
    let (graph, part) = (model.loaded.context.graph, model.loaded.shown.part)
    let names = Set(model.loaded.function.outputs.map(\.name))
    return graph.outputs.indices.compactMap { index in
      let type = graph[graph.outputs[index]].type
      let isVector = type.scalar.isFloatingPoint && type.shape.dimensions.filter { $0 != 1 }.count == 1
      return names.contains(part.outputs[index]) && isVector ? (part.outputs[index], type.count) : nil
    }
  }

  private static func embedding(
    _ vectors: [Vector], named name: String?, namesClasses: Bool
  ) throws(VisionError) -> Vector? {
    if let name {
      if let vector = vectors.first(where: { $0.name == name }) { return vector }
      let known = vectors.map { "'\($0.name)'" }.joined(separator: ", ")
      throw .invalidModel(
        "the model has no output '\(name)' of floats along one axis; it has \(known.isEmpty ? "none" : known)")
    }
    let told = vectors.filter { vector in
      ["embed", "feature"].contains { vector.name.lowercased().contains($0) }
    }
    if told.count == 1 { return told[0] }
    return !namesClasses && vectors.count == 1 ? vectors[0] : nil
  }
}
