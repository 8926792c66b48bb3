public import Kelvin
import KelvinBasics
import KelvinGraph
import KelvinHostOperations

/// A request that runs a model on an image, which is fitted to the model's input size.
public struct CoreMLRequest: ImageProcessingRequest {
  /// The model that the request runs.
  public let model: CoreMLModelContainer
  /// The method that fits an image to the model's input size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFill
  /// The part of the upright image that the model sees. It is enlarged to whole pixels.
  public var regionOfInterest = NormalizedRect.fullImage
  /// The smallest confidence of a class or object that is kept.
  public var minimumConfidence: Float = -.infinity
  /// The largest number of classes or objects that are kept, the most confident first; nil for all.
  public var maximumObservationCount: Int?

  /// Creates a request for whole images.
  public init(model: CoreMLModelContainer) { self.model = model }

  /// Runs the model on an image.
  ///
  /// The types of observations follow Vision. A classifier gives a ``ClassificationObservation`` for every class, the
  /// most probable first. A model that ends in non-maximum suppression gives ``RecognizedObjectObservation``s in the
  /// model's order. Another model gives a ``PixelBufferObservation`` for each output image or, without images, a
  /// ``CoreMLFeatureValueObservation`` for each output.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - orientation: The orientation of the stored pixels.
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image, `prediction` where the model fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [any VisionObservation] {
    let view = try view(of: image, orientation)
    do throws(ModelError) {
      return observations(try await model.model.prediction(from: features(image, orientation, view)), view)
    } catch { throw .prediction(error) }
  }

  /// Runs the model on an image, as the asynchronous variant does. Blocks the calling thread.
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

  /// Returns every class. A classifier without probabilities gives its one label, with confidence 1.
  private func classes(
    _ outputs: DictionaryFeatureProvider, _ description: ModelDescription
  ) -> [ClassificationObservation] {
    if let name = description.predictedProbabilitiesName {
      let probabilities = outputs[name]?.dictionaryValue ?? [:]
      let curves = model.curves.byLabel
      return probabilities.map { label, confidence in
        let identifier = label.description
        return ClassificationObservation(
          identifier: identifier, confidence: Float(confidence), curve: curves[ExactString(identifier)])
      }.sortedByConfidence()
    }
    guard let label = description.predictedFeatureName.flatMap({ outputs[$0] }) else { return [] }
    let text = label.stringValue ?? "\(label.int64Value ?? 0)"
    return [ClassificationObservation(identifier: text, confidence: 1)]
  }
}
