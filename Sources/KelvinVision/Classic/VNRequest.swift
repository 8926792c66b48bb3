public import Kelvin

/// A closure that is called with a finished request. Its `results` are set, or the error tells why there are none.
public typealias VNRequestCompletionHandler = (VNRequest, (any Error)?) -> Void

/// A request in the style of Vision's first API generation. Performing it blocks the caller, and the answer is in
/// ``results``. A request may be performed on many images one after another, but not on several threads.
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
/// ``ImageProcessingRequest`` is the second generation's counterpart.
public class VNRequest {
  /// The closure that is called after every performance of the request, on the thread that performs it.
  public let completionHandler: VNRequestCompletionHandler?
  /// The results for the last image; nil before the first, and after a failure.
  public private(set) var results: [VNObservation]?
  /// The part of the upright image that the request analyses.
  public var regionOfInterest = NormalizedRect.fullImage

  init(_ completionHandler: VNRequestCompletionHandler?) { self.completionHandler = completionHandler }

  /// Returns the observations of an image; subclasses override it. Blocks the calling thread.
  func observations(
    of image: PixelBuffer, _ orientation: ImageOrientation
  ) throws(VisionError) -> [VNObservation] { [] }

  /// Sets the results for an image and calls the completion handler.
  ///
  /// - Returns: The error; nil for success.
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

/// The method that fits an image to a model's input size.
public enum VNImageCropAndScaleOption: Hashable, Sendable {
  /// Crops to the largest centred part of the image with the proportions of the model's input.
  case centerCrop
  /// Scales the whole image to fit, and pads with bars.
  case scaleFit
  /// Stretches the whole image to the input's size.
  case scaleFill
  /// Rotates the image counterclockwise by 90°, then applies `scaleFit`.
  case scaleFitRotate90CCW
  /// Rotates the image counterclockwise by 90°, then applies `scaleFill`.
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

/// A model for use with images. Requests can share it.
public final class VNCoreMLModel {
  let container: CoreMLModelContainer

  /// The name of the input that takes the image.
  public var inputImageFeatureName: String { container.inputImageFeatureName }

  /// Creates a model for images, with an image input and values for the other inputs.
  ///
  /// - Throws: `VisionError` as ``CoreMLModelContainer`` does.
  public init(
    for model: Model, inputImageFeatureName: String? = nil, featureProvider: DictionaryFeatureProvider? = nil
  ) throws(VisionError) {
    container = try CoreMLModelContainer(
      model: model, inputImageFeatureName: inputImageFeatureName, featureProvider: featureProvider)
  }
}

/// A request that runs a model on an image. The types of its observations follow the rules of ``CoreMLRequest``.
public final class VNCoreMLRequest: VNRequest {
  /// The model that the request runs. Any number of requests may share it.
  public let model: VNCoreMLModel
  /// The method that fits an image to the model's input size.
  public var imageCropAndScaleOption = VNImageCropAndScaleOption.centerCrop

  /// Creates a request for whole images.
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

/// A request that classifies an image with the model that the user has configured (``DefaultModel``), as
/// ``ClassifyImageRequest`` does.
public final class VNClassifyImageRequest: VNRequest {
  /// Creates a request for whole images.
  public init(completionHandler: VNRequestCompletionHandler? = nil) { super.init(completionHandler) }

  override func observations(
    of image: PixelBuffer, _ orientation: ImageOrientation
  ) throws(VisionError) -> [VNObservation] {
    var request = ClassifyImageRequest()
    request.regionOfInterest = regionOfInterest
    return try request.perform(on: image, orientation: orientation).map(VNClassificationObservation.init)
  }
}
