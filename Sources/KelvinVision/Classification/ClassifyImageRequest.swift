public import Kelvin

/// Says what a picture shows, by the model that the user has configured (``DefaultModel``). It is loaded with the first
/// picture and shared by all requests of the process.
public struct ClassifyImageRequest: ImageProcessingRequest {
  /// How a picture is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .centerCrop
  /// The part of the upright picture that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage

  /// A request to classify whole pictures.
  public init() {}

  /// Every class, the most probable first.
  ///
  /// - Throws: `VisionError`: `missingModel` where none is configured, saying how to; `invalidModel` where it does not
  ///   classify pictures; `prediction` where it cannot be loaded or fails.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [ClassificationObservation] {
    var request = try await SharedDefault.shared.request()
    request.cropAndScaleAction = cropAndScaleAction
    request.regionOfInterest = regionOfInterest
    return try await request.perform(on: image, orientation: orientation)
  }
}

/// The default model as the process has it.
private actor SharedDefault {
  static let shared = SharedDefault()
  private var loading: (choice: DefaultModel, task: Task<Result<ClassificationRequest, VisionError>, Never>)?

  func request() async throws(VisionError) -> ClassificationRequest {
    guard let choice = try DefaultModel.configured() else { throw .missingModel(DefaultModel.absence) }
    let task: Task<Result<ClassificationRequest, VisionError>, Never>
    if let loading, loading.choice == choice {
      task = loading.task
    } else {
      task = Task { await Self.load(choice) }
      loading = (choice, task)
    }
    let result = await task.value
    // What could not be loaded may be there another time.
    if case .failure = result, loading?.task == task { loading = nil }
    return try result.get()
  }

  private static func load(_ choice: DefaultModel) async -> Result<ClassificationRequest, VisionError> {
    do throws(VisionError) {
      let model: Model
      do throws(ModelError) { model = try await Model.load(contentsOf: choice.url) } catch { throw .prediction(error) }
      return .success(
        try ClassificationRequest(model: model, labels: choice.labels, normalization: choice.normalization))
    } catch { return .failure(error) }
  }
}
