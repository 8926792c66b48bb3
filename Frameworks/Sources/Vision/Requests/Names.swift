public import Kelvin
public import KelvinVision

// The names of Vision's second generation, which are Kelvin's types.

/// A request that runs a model on an image.
public typealias CoreMLRequest = KelvinVision.CoreMLRequest
/// A model for use with images.
public typealias CoreMLModelContainer = KelvinVision.CoreMLModelContainer
/// A request that classifies an image with the model that the user has configured: `kelvin use MODEL`.
public typealias ClassifyImageRequest = KelvinVision.ClassifyImageRequest
/// A result that a request found in an image.
public typealias VisionObservation = KelvinVision.VisionObservation
/// A class that an image may belong to.
public typealias ClassificationObservation = KelvinVision.ClassificationObservation
/// An object that a detector found.
public typealias RecognizedObjectObservation = KelvinVision.RecognizedObjectObservation
/// An image that a model produced.
public typealias PixelBufferObservation = KelvinVision.PixelBufferObservation
/// An output of a model that is of another type.
public typealias CoreMLFeatureValueObservation = KelvinVision.CoreMLFeatureValueObservation
/// The result of one of several requests.
public typealias VisionResult = KelvinVision.VisionResult
/// An error of the second generation's requests.
public typealias VisionError = KelvinVision.VisionError
/// A rectangle in shares of an image's sides.
public typealias NormalizedRect = KelvinVision.NormalizedRect
/// A point in shares of an image's sides.
public typealias NormalizedPoint = KelvinVision.NormalizedPoint
/// The corner of an image that is the origin of coordinates.
public typealias CoordinateOrigin = KelvinVision.CoordinateOrigin
/// The method that fits an image to a model's input size.
public typealias ImageCropAndScaleAction = ImageCropAndScale
/// The value of an output.
public typealias MLSendableFeatureValue = FeatureValue
/// A request of Vision.
public typealias VisionRequest = ImageProcessingRequest
