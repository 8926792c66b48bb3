public import Kelvin
import KelvinEngine
import KelvinGraph
package import KelvinRuntime

/// A request that locates the joints of people in an image. The model has PoseNet's outputs: scores of joints in cells,
/// offsets to the joints, and displacements between joints.
public struct PoseRequest: ImageProcessingRequest {
  /// The model that the request runs.
  public let model: Model
  /// The method that fits an image to the model's input size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFit
  /// The part of the upright image that the model sees. It is enlarged to whole pixels.
  public var regionOfInterest = NormalizedRect.fullImage
  /// Whether the image contains at most one person. Each joint is then at the position of its largest score.
  public var isSingle = false
  /// The largest number of poses.
  public var maximumPoseCount = 10
  /// The smallest confidence of a pose that is kept, 0…1: the mean of its joints' scores.
  public var minimumConfidence: Float = 0.2
  /// The smallest score of a joint from which a pose is grown, 0…1.
  public var minimumRootConfidence: Float = 0.5
  /// The distance within which joints of the same name belong to one person, in pixels of the model's input.
  public var suppressionRadius = 20.0
  /// Remarks about the answers.
  public let remarks: [String]

  let function: Function
  private let inputName: String
  var image: ImageFeature
  private let outputs: PoseOutputs
  var predictor: Predictor

  /// Creates a request for whole images.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - normalization: The normalization of pixels for a model whose input is a plain tensor.
  /// - Throws: `VisionError`: `invalidModel` for a model without PoseNet's outputs; `missingNormalization`;
  ///   `invalidRequest` for an unsuitable normalization.
  public init(model: Model, normalization: PixelNormalization? = nil) throws(VisionError) {
    self.model = model
    outputs = try PoseOutputs(model.loaded)
    var function = model.loaded.function
    (inputName, image) = try ImageInput.only(of: &function, model.loaded.context.graph, normalization)
    self.function = function
    predictor = model.predictor(of: function)
    remarks =
      outputs.hasDisplacements ? [] : ["the model has no displacements from joint to joint: one pose is found at most"]
  }

  /// Detects the poses in an image, in descending order of their first joint's score.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image, `prediction` where the model fails,
  ///   `invalidModel` where its maps do not match each other.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [HumanBodyPoseObservation] {
    try await unblocked { (cancellation) throws(VisionError) in
      try self.poses(image, orientation: orientation, cancellation)
    }
  }

  /// Detects the poses in an image, as the asynchronous variant does. Blocks the calling thread.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError)
    -> [HumanBodyPoseObservation]
  {
    try poses(image, orientation: orientation)
  }

  /// Detects the poses in an image, as `perform` does. Blocks the calling thread.
  package func poses(
    _ pixels: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation? = nil
  ) throws(VisionError) -> [HumanBodyPoseObservation] {
    let view = try ModelView(of: pixels, orientation, regionOfInterest, onto: image, cropAndScaleAction)
    let value = FeatureValue(
      image: pixels, orientation: orientation, cropAndScale: cropAndScaleAction, cropRect: view.cropRect)
    let features: DictionaryFeatureProvider
    do throws(ModelError) {
      features = try predictor.run(
        DictionaryFeatureProvider(dictionary: [inputName: value]), [:], cancellation
      ).features
    } catch { throw .prediction(error) }
    let maps = try outputs.maps(features, view.target)
    let poses =
      isSingle || !outputs.hasDisplacements
      ? [maps.single()]
      : maps.multiple(maximumPoseCount, from: Double(minimumRootConfidence), radius: suppressionRadius)
    return poses.map { HumanBodyPoseObservation($0, view) }.filter { $0.confidence >= minimumConfidence }
  }
}

extension HumanBodyPoseObservation {
  /// Converts a pose from pixels of the model's input to the image. Joints without a finite position are left out.
  fileprivate init(_ pose: PoseNet.Pose, _ view: ModelView) {
    let joints = zip(PoseNet.joints, pose.points).filter { $1.x.isFinite && $1.y.isFinite }.map { name, point in
      let location = view.imagePoint(x: point.x, y: point.y)
      return (name, Joint(jointName: name.rawValue, location: location, confidence: Float(point.score)))
    }
    self.init(joints: Dictionary(uniqueKeysWithValues: joints), confidence: Float(pose.score))
  }
}
