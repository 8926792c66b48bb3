public import Kelvin
import KelvinGraph
import KelvinHostOperations

/// Runs a model on images, bringing them to the size it takes.
public struct CoreMLRequest: ImageProcessingRequest {
  /// The model that is run.
  public let model: CoreMLModelContainer
  /// How an image is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill
  /// The part of the upright image that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage
  /// Classes and objects of which the model is less sure are left out.
  public var minimumConfidence: Float = -.infinity
  /// At most so many classes or objects are kept, the surest; nil for all.
  public var maximumObservationCount: Int?

  /// A request to run a model on whole images.
  public init(model: CoreMLModelContainer) { self.model = model }

  /// What the model finds in an image.
  ///
  /// The observations' type is Vision's choice: of a classifier every class as ``ClassificationObservation``, the most
  /// probable first; of a model that ends in non-maximum suppression its ``RecognizedObjectObservation``s in the
  /// model's order; else a ``PixelBufferObservation`` for each image it makes; else a
  /// ``CoreMLFeatureValueObservation`` for each output.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - orientation: how the stored pixels are turned.
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image, `prediction` where the model fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [any VisionObservation] {
    let view = try view(of: image, orientation)
    do throws(ModelError) {
      return observations(try await model.model.prediction(from: features(image, orientation, view)), view)
    } catch { throw .prediction(error) }
  }

  /// As the form that does not block the calling thread; this one does.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) throws(VisionError) -> [any VisionObservation] {
    let view = try view(of: image, orientation)
    do throws(ModelError) {
      return observations(try model.model.prediction(from: features(image, orientation, view)), view)
    } catch { throw .prediction(error) }
  }

  private func view(of image: PixelBuffer, _ orientation: ImageOrientation) throws(VisionError) -> ModelView {
    try ModelView(of: image, orientation, regionOfInterest, onto: model.image, cropAndScaleAction)
  }

  private func features(
    _ image: PixelBuffer, _ orientation: ImageOrientation, _ view: ModelView
  ) -> DictionaryFeatureProvider {
    var features = model.featureProvider?.dictionary ?? [:]
    features[model.inputImageFeatureName] = FeatureValue(
      image: image, orientation: orientation, cropAndScale: cropAndScaleAction, cropRect: view.cropRect)
    return DictionaryFeatureProvider(dictionary: features)
  }

  private func observations(_ outputs: DictionaryFeatureProvider, _ view: ModelView) -> [any VisionObservation] {
    let description = model.model.modelDescription
    if description.isClassifier { return kept(classes(outputs, description)) }
    if let detection = description.detection { return kept(view.objects(outputs, detection)) }
    let names = description.outputNames.filter { outputs[$0] != nil }
    let images = names.compactMap { name in
      outputs[name]?.imageBufferValue.map { PixelBufferObservation(featureName: name, pixelBuffer: $0) }
    }
    if !images.isEmpty { return images }
    return names.compactMap { name in
      outputs[name].map { CoreMLFeatureValueObservation(featureName: name, featureValue: $0) }
    }
  }

  private func kept<Observation: VisionObservation>(_ all: [Observation]) -> [any VisionObservation] {
    let sure = minimumConfidence == -.infinity ? all : all.filter(minimumConfidence: minimumConfidence)
    return maximumObservationCount.map { sure.top($0) } ?? sure
  }

  /// Every class; of a classifier without probabilities its one label, with confidence 1.
  private func classes(
    _ outputs: DictionaryFeatureProvider, _ description: ModelDescription
  ) -> [ClassificationObservation] {
    if let name = description.predictedProbabilitiesName {
      let probabilities = outputs[name]?.dictionaryValue ?? [:]
      let curves = model.curves.byLabel
      return probabilities.map { label, confidence in
        let identifier = label.description
        return ClassificationObservation(
          identifier: identifier, confidence: Float(confidence), curve: curves[identifier])
      }.sortedByConfidence()
    }
    guard let label = description.predictedFeatureName.flatMap({ outputs[$0] }) else { return [] }
    let text = label.type == .string ? label.stringValue : "\(label.int64Value)"
    return [ClassificationObservation(identifier: text, confidence: 1)]
  }
}
