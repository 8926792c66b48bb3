public import Kelvin
import KelvinEngine
import KelvinGraph
package import KelvinRuntime

/// Says where the joints of people on an image are, by a model of PoseNet's form: scores of joints in cells, offsets to
/// the joints, and displacements from joint to joint.
public struct PoseRequest: ImageProcessingRequest {
  /// The model that is run.
  public let model: Model
  /// How an image is brought to the model's size.
  public var cropAndScaleAction: ImageCropAndScale = .scaleToFit
  /// The part of the upright image that the model sees. What is not whole pixels is widened to them.
  public var regionOfInterest = NormalizedRect.fullImage
  /// Whether there is one person at most: every joint is where its score is largest.
  public var isSingle = false
  /// At most so many poses are found.
  public var maximumPoseCount = 10
  /// Poses of which the model is less sure are left out, 0…1: by the mean of their joints' scores.
  public var minimumConfidence: Float = 0.2
  /// The score from which on a joint may be where a pose starts, 0…1.
  public var minimumRootConfidence: Float = 0.5
  /// Joints of the same name that are no further apart belong to one person, in pixels of the model's input.
  public var suppressionRadius = 20.0
  /// What to know of the answers.
  public let remarks: [String]

  private let inputName: String
  private let image: ImageFeature
  private let outputs: PoseOutputs
  private let predictor: Predictor

  /// A request to find people's poses on whole images.
  ///
  /// - Parameters:
  ///   - model: the model.
  ///   - normalization: how pixels enter a model whose input is a plain tensor.
  /// - Throws: `VisionError`: `invalidModel` for one that finds no poses as PoseNet does; `missingNormalization`;
  ///   `invalidRequest` for a normalization that does not fit.
  public init(model: Model, normalization: PixelNormalization? = nil) throws(VisionError) {
    self.model = model
    outputs = try PoseOutputs(model.loaded)
    var function = model.loaded.function
    (inputName, image) = try ImageInput.only(of: &function, model.loaded.context.graph, normalization)
    predictor = model.predictor(of: function)
    remarks =
      outputs.hasDisplacements ? [] : ["the model has no displacements from joint to joint: one pose is found at most"]
  }

  /// The poses on an image, in the order in which they were found: from the surest joint on.
  ///
  /// - Throws: `VisionError`: `invalidRequest` for a region outside the image, `prediction` where the model fails,
  ///   `invalidModel` where its maps do not go with each other.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> [HumanBodyPoseObservation] {
    try await unblocked { (cancellation) throws(VisionError) in
      try self.poses(image, orientation: orientation, cancellation)
    }
  }

  /// As the form that does not block the calling thread; this one does.
  public func perform(on image: PixelBuffer, orientation: ImageOrientation) throws(VisionError) -> [HumanBodyPoseObservation] {
    try poses(image, orientation: orientation)
  }

  /// As `perform`. Blocks the calling thread.
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
  /// A pose in pixels of the model's input as one on the image. Joints that are nowhere are left out.
  fileprivate init(_ pose: PoseNet.Pose, _ view: ModelView) {
    let joints = zip(PoseNet.joints, pose.points).filter { $1.x.isFinite && $1.y.isFinite }.map { name, point in
      let location = view.imagePoint(x: point.x, y: point.y)
      return (name, Joint(jointName: name.rawValue, location: location, confidence: Float(point.score)))
    }
    self.init(joints: Dictionary(uniqueKeysWithValues: joints), confidence: Float(pose.score))
  }
}
