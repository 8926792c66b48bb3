public import Kelvin
import Synchronization

/// Says what an image shows, by the model that the user has configured (``DefaultModel``). It is loaded with the first
/// image and shared by all requests of the process.
public struct ClassifyImageRequest: ImageProcessingRequest {
  /// How an image is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .centerCrop
  /// The part of the upright image that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage

  /// A request to classify whole images.
  public init() {}

  /// Every class, the most probable first.
  ///
  /// - Throws: `VisionError`: `missingModel` where none is configured, saying how to; `invalidModel` where it does not
  ///   classify images; `prediction` where it cannot be loaded or fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [ClassificationObservation] {
    let wanted = self
    return try await unblocked { (cancellation) throws(VisionError) in
      try wanted.request().classify(image, orientation: orientation, cancellation)
    }
  }

  /// As the form that does not block the calling thread; this one does.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) throws(VisionError) -> [ClassificationObservation] {
    try request().classify(image, orientation: orientation)
  }

  private func request() throws(VisionError) -> ClassificationRequest {
    var request = try SharedDefault.request()
    request.cropAndScaleAction = cropAndScaleAction
    request.regionOfInterest = regionOfInterest
    return request
  }
}

/// The default model as the process has it.
private enum SharedDefault {
  private static let loaded = Mutex<(choice: DefaultModel, request: ClassificationRequest)?>(nil)

  /// Loads it where it has not been; who comes meanwhile waits. Blocks the calling thread.
  static func request() throws(VisionError) -> ClassificationRequest {
    guard let choice = try DefaultModel.configured() else { throw .missingModel(DefaultModel.exclusions) }
    return try loaded.withLock { loaded throws(VisionError) in
      if let loaded, loaded.choice == choice { return loaded.request }
      let request = try load(choice)
      loaded = (choice, request)
      return request
    }
  }

  private static func load(_ choice: DefaultModel) throws(VisionError) -> ClassificationRequest {
    let model: Model
    do throws(ModelError) { model = try Model(contentsOf: choice.url) } catch { throw .prediction(error) }
    return try ClassificationRequest(model: model, labels: choice.labels, normalization: choice.normalization)
  }
}
