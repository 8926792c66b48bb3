public import Kelvin
import Synchronization

/// A request that classifies an image with the model that the user has configured (``DefaultModel``). The model is
/// loaded with the first image and shared by all requests of the process.
public struct ClassifyImageRequest: ImageProcessingRequest {
  /// The method that fits an image to the model's input size.
  public var cropAndScaleAction: ImageCropAndScale = .centerCrop
  /// The part of the upright image that the model sees. It is enlarged to whole pixels.
  public var regionOfInterest = NormalizedRect.fullImage

  /// Creates a request for whole images.
  public init() {}

  /// Classifies an image and returns every class, the most probable first.
  ///
  /// - Throws: `VisionError`: `missingModel` where no model is configured, with the remedy; `invalidModel` where the
  ///   model does not classify images; `prediction` where it cannot be loaded or fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [ClassificationObservation] {
    let wanted = self
    return try await unblocked { (cancellation) throws(VisionError) in
      try wanted.request().classify(image, orientation: orientation, cancellation)
    }
  }

  /// Classifies an image, as the asynchronous variant does. Blocks the calling thread.
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

/// The default model of the process.
private enum SharedDefault {
  private static let loaded = Mutex<(choice: DefaultModel, request: ClassificationRequest)?>(nil)

  /// Returns the request for the configured model, loading the model if necessary. Concurrent callers wait. Blocks the
  /// calling thread.
  static func request() throws(VisionError) -> ClassificationRequest {
    guard let choice = try DefaultModel.configured() else { throw .missingModel(DefaultModel.absence) }
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
