public import Kelvin

/// Told what came of a request: its `results`, or why there are none.
public typealias VNRequestCompletionHandler = (VNRequest, (any Error)?) -> Void

/// A question about images as Vision's first generation asks it: whoever performs it waits, and finds the answer in
/// ``results``. One may be performed on many images, one after another; it is not for several threads.
///
/// ```swift
/// let model = try VNCoreMLModel(for: try Model(contentsOf: url))
/// let request = VNCoreMLRequest(model: model) { request, error in
///   guard let found = request.results as? [VNClassificationObservation] else { return print(error ?? "no classes") }
///   for one in found.prefix(3) { print(one.identifier, one.confidence) }
/// }
/// request.imageCropAndScaleOption = .centerCrop
/// try VNImageRequestHandler(url: image).perform([request])
/// ```
///
/// ``ImageProcessingRequest`` has the second generation's shape.
public class VNRequest {
  /// Called whenever the request has been performed, on the thread that performs it.
  public let completionHandler: VNRequestCompletionHandler?
  /// What was found on the last image; nil before, and where the request failed.
  public private(set) var results: [VNObservation]?
  /// The part of the upright image that the request is about.
  public var regionOfInterest = NormalizedRect.fullImage

  init(_ completionHandler: VNRequestCompletionHandler?) { self.completionHandler = completionHandler }

  /// What an image shows. Blocks the calling thread.
  func observations(
    of image: PixelBuffer, _ orientation: ImageOrientation
  ) throws(VisionError) -> [VNObservation] { [] }

  /// Answers for an image, and tells so.
  ///
  /// - Returns: why there is no answer.
  func answer(for image: Result<DecodedImage, VisionError>) -> VisionError? {
    do throws(VisionError) {
      let image = try image.get()
      results = try observations(of: image.pixels, image.orientation)
      completionHandler?(self, nil)
      return nil
    } catch {
      results = nil
      completionHandler?(self, error)
      return error
    }
  }
}

/// How an image is brought to a model's size.
public enum VNImageCropAndScaleOption: Hashable, Sendable {
  /// The middle of the image, as much as the model's sides have room for.
  case centerCrop
  /// All of the image, with bars.
  case scaleFit
  /// All of the image, its sides stretched.
  case scaleFill
  /// As `scaleFit`, turned counterclockwise first.
  case scaleFitRotate90CCW
  /// As `scaleFill`, turned counterclockwise first.
  case scaleFillRotate90CCW

  var action: ImageCropAndScale {
    switch self {
    case .centerCrop: .centerCrop
    case .scaleFit: .scaleToFit
    case .scaleFill: .scaleToFill
    case .scaleFitRotate90CCW: .scaleToFitPlus90CCWRotation
    case .scaleFillRotate90CCW: .scaleToFillPlus90CCWRotation
    }
  }
}

/// A model for use with images; made once for all requests.
public final class VNCoreMLModel {
  let container: CoreMLModelContainer

  /// The input that takes the image.
  public var inputImageFeatureName: String { container.inputImageFeatureName }

  /// A model, the input that takes images, and values for its others.
  ///
  /// - Throws: `VisionError` as ``CoreMLModelContainer`` does.
  public init(
    for model: Model, inputImageFeatureName: String? = nil, featureProvider: DictionaryFeatureProvider? = nil
  ) throws(VisionError) {
    container = try CoreMLModelContainer(
      model: model, inputImageFeatureName: inputImageFeatureName, featureProvider: featureProvider)
  }
}

/// Asks a model what an image shows: as ``CoreMLRequest``, of which it has the rules by which observations' types are chosen.
public final class VNCoreMLRequest: VNRequest {
  /// What is asked; any number of requests may share it.
  public let model: VNCoreMLModel
  /// How an image is brought to the model's size.
  public var imageCropAndScaleOption = VNImageCropAndScaleOption.centerCrop

  /// A request about whole images.
  public init(model: VNCoreMLModel, completionHandler: VNRequestCompletionHandler? = nil) {
    self.model = model
    super.init(completionHandler)
  }

  override func observations(
    of image: PixelBuffer, _ orientation: ImageOrientation
  ) throws(VisionError) -> [VNObservation] {
    var request = CoreMLRequest(model: model.container)
    request.cropAndScaleAction = imageCropAndScaleOption.action
    request.regionOfInterest = regionOfInterest
    return try request.perform(on: image, orientation: orientation).compactMap(VNObservation.of)
  }
}

/// Says what an image shows, by the model that the user has configured (``DefaultModel``): as ``ClassifyImageRequest``.
public final class VNClassifyImageRequest: VNRequest {
  /// A request about whole images.
  public init(completionHandler: VNRequestCompletionHandler? = nil) { super.init(completionHandler) }

  override func observations(
    of image: PixelBuffer, _ orientation: ImageOrientation
  ) throws(VisionError) -> [VNObservation] {
    var request = ClassifyImageRequest()
    request.regionOfInterest = regionOfInterest
    return try request.perform(on: image, orientation: orientation).map(VNClassificationObservation.init)
  }
}
