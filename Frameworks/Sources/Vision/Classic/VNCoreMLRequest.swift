public import CoreML
public import Foundation
public import Kelvin
public import KelvinVision

/// The method that fits an image to a model's input size, with Vision's raw values.
public enum VNImageCropAndScaleOption: UInt, Sendable {
  /// Crops to the largest centred part of the image with the proportions of the model's input.
  case centerCrop = 0
  /// Scales the whole image to fit, and pads with bars.
  case scaleFit = 1
  /// Stretches the whole image to the input's size.
  case scaleFill = 2
  /// Rotates the image counterclockwise by 90°, then applies `scaleFit`.
  case scaleFitRotate90CCW = 257
  /// Rotates the image counterclockwise by 90°, then applies `scaleFill`.
  case scaleFillRotate90CCW = 258

  /// Kelvin's method.
  public var kelvin: ImageCropAndScale {
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
public final class VNCoreMLModel: NSObject, @unchecked Sendable {
  private let model: MLModel
  /// Kelvin's model with the usual input and without values of other inputs. It has read the curves of the classes.
  private let usual: CoreMLModelContainer
  /// The name of the input that takes the image.
  public var inputImageFeatureName: String
  /// The values of the other inputs.
  public var featureProvider: (any MLFeatureProvider)?

  /// Creates a model for images.
  ///
  /// - Throws: `VNError` (`invalidModel`) if the model has no image input.
  public init(for model: MLModel) throws {
    self.model = model
    do throws(VisionError) {
      usual = try CoreMLModelContainer(model: model.kelvin)
      inputImageFeatureName = usual.inputImageFeatureName
    } catch { throw VNError(error) }
  }

  /// Kelvin's model for images, with the present input and values.
  ///
  /// - Throws: `VisionError.invalidModel` if the model has no image input of the name.
  public var kelvin: CoreMLModelContainer {
    get throws(VisionError) {
      if featureProvider == nil, inputImageFeatureName == usual.inputImageFeatureName { return usual }
      return try CoreMLModelContainer(
        model: model.kelvin, inputImageFeatureName: inputImageFeatureName, featureProvider: featureProvider?.kelvin)
    }
  }
}

/// A request that runs a model on an image.
///
/// A classifier gives a ``VNClassificationObservation`` for every class, the most probable first. A model that ends in
/// non-maximum suppression gives ``VNRecognizedObjectObservation``s. Another model gives a ``VNPixelBufferObservation``
/// for each output image or, without images, a ``VNCoreMLFeatureValueObservation`` for each output.
open class VNCoreMLRequest: VNImageBasedRequest {
  /// The model that the request runs.
  public let model: VNCoreMLModel
  /// The method that fits an image to the model's input size.
  open var imageCropAndScaleOption = VNImageCropAndScaleOption.centerCrop

  /// Creates a request for whole images.
  public init(model: VNCoreMLModel, completionHandler: VNRequestCompletionHandler? = nil) {
    self.model = model
    super.init(completionHandler: completionHandler)
  }

  override func observations(of image: KelvinVision.ImageRequestHandler) throws(VisionError) -> [VNObservation] {
    var request = CoreMLRequest(model: try model.kelvin)
    request.cropAndScaleAction = imageCropAndScaleOption.kelvin
    request.regionOfInterest = NormalizedRect(regionOfInterest)
    return try image.perform(request).compactMap { VNObservation.of($0) }
  }
}

/// A request that classifies an image with the model that the user has configured: `kelvin use MODEL`.
open class VNClassifyImageRequest: VNImageBasedRequest {
  /// The classes of the last image, the most probable first; nil before the first, and after a failure.
  public var results: [VNClassificationObservation]? { found as? [VNClassificationObservation] }

  override func observations(of image: KelvinVision.ImageRequestHandler) throws(VisionError) -> [VNObservation] {
    var request = ClassifyImageRequest()
    request.regionOfInterest = NormalizedRect(regionOfInterest)
    return try image.perform(request).map { VNClassificationObservation($0) }
  }
}
