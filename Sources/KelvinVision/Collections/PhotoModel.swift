#if Collections
public import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinIndex
import KelvinRuntime
import KelvinHostOperations

/// A model as images of a collection are seen by it: the classes it gives, a vector by which images are alike, or
/// both.
public struct PhotoModel: Sendable {
  /// What tells a model's images from another's: anything that changes its answers.
  struct Settings: Hashable, Sendable {
    var labels: [String]?
    var normalization: PixelNormalization?
    var embedding: String?
    var cropAndScale: ImageCropAndScale
  }

  /// The model that is run.
  public let model: Model
  /// How an image is brought to the model's size.
  public let cropAndScaleAction: ImageCropAndScale
  /// The output with an image's vector; nil where the model has none.
  public let embeddingFeatureName: String?
  /// Numbers in an image's vector; 0 where the model has none.
  public let embeddingCount: Int
  /// What to know of the answers.
  public let remarks: [String]

  let settings: Settings
  /// What precision and recall classes have.
  let curves: [String: PrecisionRecallCurve]
  private let classifier: ImageClassifier?
  private let inputName: String
  private let predictor: Predictor

  /// A model for images.
  ///
  /// - Parameters:
  ///   - model: the model.
  ///   - labels: the classes' names, in place of the model's own.
  ///   - normalization: how pixels enter a model whose input is a plain tensor.
  ///   - embedding: the output with an image's vector. Where nil, the output of floats that is not the classes': the
  ///     only one, or that whose name has "embed" or "feature" in it; of a model that names no classes, with no `labels`,
  ///     its only output.
  ///   - cropAndScaleAction: how an image is brought to the model's size.
  ///   - curves: what precision and recall the classes have, in place of what the model says.
  /// - Throws: `VisionError`: `invalidModel` for one that gives neither classes nor a vector, or no such output;
  ///   `missingNormalization`; `invalidRequest` for a normalization that does not fit.
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
        ? ["output '\(chosen?.name ?? "")' is taken for a vector of the image; --labels would name its classes"] : []
      predictor = model.predictor(of: function)
    }
  }

  /// A configuration for many images: the plan for throughput, and one thread for each of the predictions that are made
  /// at a time, where nothing else is said.
  public static func configuration(_ configuration: ModelConfiguration = ModelConfiguration()) -> ModelConfiguration {
    var many = configuration
    many.goal = .throughput
    many.threadCount = configuration.threadCount ?? 1
    return many
  }

  /// How many images are usually seen at a time: one for each processor, and one more where another device works while
  /// the host prepares the next.
  var usualWorkerCount: Int { defaultThreadCount + (predictor.usesOtherDevices ? 1 : 0) }

  /// What a model sees in an image: every class, the most probable first, and the vector.
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

  /// Outputs of floats along one axis.
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
#endif
