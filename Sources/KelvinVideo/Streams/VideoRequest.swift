public import Kelvin
package import KelvinEngine
package import KelvinGraph
import KelvinImages
package import KelvinRuntime
public import KelvinVision

/// A request on the frames of a video: one of Kelvin's requests for a model.
public enum VideoRequest: ImageProcessingRequest {
  /// Classes of the whole image.
  case classification(ClassificationRequest)
  /// Objects and their boxes.
  case detection(DetectionRequest)
  /// The class of each pixel.
  case segmentation(SegmentationRequest)
  /// The joints of people.
  case pose(PoseRequest)

  /// The kinds of requests.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Classes of the whole image.
    case classification
    /// Objects and their boxes.
    case detection
    /// The class of each pixel.
    case segmentation
    /// The joints of people.
    case pose
  }

  /// Creates the request that suits a model: classification for a classifier, else the first of detection, pose,
  /// segmentation and classification whose outputs the model has.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - kind: The kind of the request; nil for the one that suits the model.
  ///   - head: The description of a detector's outputs, for a model that does not describe them itself.
  ///   - labels: The names of the classes, in place of the model's own.
  ///   - normalization: The normalization of pixels for a model whose input is a plain tensor.
  /// - Throws: `VisionError`: `invalidModel` for a model that suits no kind, or not the given one;
  ///   `missingNormalization`; `invalidRequest` for an unsuitable normalization.
  public init(
    model: Model, kind: Kind? = nil, head: DetectionHead? = nil, labels: [String]? = nil,
    normalization: PixelNormalization? = nil
  ) throws(VisionError) {
    func make(_ kind: Kind) throws(VisionError) -> VideoRequest {
      switch kind {
      case .classification:
        .classification(try ClassificationRequest(model: model, labels: labels, normalization: normalization))
      case .detection:
        .detection(try DetectionRequest(model: model, head: head, labels: labels, normalization: normalization))
      case .segmentation:
        .segmentation(try SegmentationRequest(model: model, labels: labels, normalization: normalization))
      case .pose: .pose(try PoseRequest(model: model, normalization: normalization))
      }
    }
    if let kind {
      self = try make(kind)
    } else if head != nil {
      self = try make(.detection)
    } else {
      let order: [Kind] =
        model.modelDescription.isClassifier
        ? [.classification] : [.detection, .pose, .segmentation, .classification]
      var reason: VisionError?
      for kind in order {
        do throws(VisionError) {
          self = try make(kind)
          return
        } catch {
          if case .missingNormalization = error, case .invalidModel(let words)? = reason {
            throw .invalidModel(
              "\(words), with its normalization; a model of another task needs a normalization (--normalization)")
          }
          guard case .invalidModel = error else { throw error }
          reason = reason ?? error
        }
      }
      throw reason ?? .invalidModel("the model suits no request on images")
    }
  }

  /// The kind of the request.
  public var kind: Kind {
    switch self {
    case .classification: .classification
    case .detection: .detection
    case .segmentation: .segmentation
    case .pose: .pose
    }
  }

  /// The model that the request runs.
  public var model: Model {
    switch self {
    case .classification(let request): request.model
    case .detection(let request): request.model
    case .segmentation(let request): request.model
    case .pose(let request): request.model
    }
  }

  /// Remarks about the answers.
  public var remarks: [String] {
    switch self {
    case .classification(let request): request.remarks
    case .detection(let request): request.remarks
    case .segmentation(let request): request.remarks
    case .pose(let request): request.remarks
    }
  }

  /// The part of the upright image that the request analyses.
  public var regionOfInterest: NormalizedRect {
    get {
      switch self {
      case .classification(let request): request.regionOfInterest
      case .detection(let request): request.regionOfInterest
      case .segmentation(let request): request.regionOfInterest
      case .pose(let request): request.regionOfInterest
      }
    }
    set { change { $0.regionOfInterest = newValue } }
  }

  /// The method that fits an image to the model's input size: the request's own by default, as in every other use of
  /// the request.
  public var cropAndScaleAction: ImageCropAndScale {
    get {
      switch self {
      case .classification(let request): request.cropAndScaleAction
      case .detection(let request): request.cropAndScaleAction
      case .segmentation(let request): request.cropAndScaleAction
      case .pose(let request): request.cropAndScaleAction
      }
    }
    set { change { $0.cropAndScaleAction = newValue } }
  }

  private mutating func change(_ body: (inout any FittedRequest) -> Void) {
    func changed<Request: FittedRequest>(_ request: Request) -> Request {
      var any: any FittedRequest = request
      body(&any)
      return any as? Request ?? request
    }
    switch self {
    case .classification(let request): self = .classification(changed(request))
    case .detection(let request): self = .detection(changed(request))
    case .segmentation(let request): self = .segmentation(changed(request))
    case .pose(let request): self = .pose(changed(request))
    }
  }

  /// Performs the request on an image in memory.
  ///
  /// - Throws: the errors of the request.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) async throws(VisionError) -> VideoObservations {
    switch self {
    case .classification(let request): .classes(try await request.perform(on: image, orientation: orientation))
    case .detection(let request):
      .objects(try await request.perform(on: image, orientation: orientation).map { TrackedObject($0) })
    case .segmentation(let request): .segments(try await request.perform(on: image, orientation: orientation))
    case .pose(let request):
      .poses(try await request.perform(on: image, orientation: orientation).map { TrackedPose($0) })
    }
  }

  /// Performs the request on an image in memory, as the asynchronous variant does. Blocks the calling thread.
  public func perform(
    on image: PixelBuffer, orientation: ImageOrientation
  ) throws(VisionError) -> VideoObservations { try result(of: image, orientation: orientation, nil) }
}

/// A request that fits images to its model's input.
private protocol FittedRequest {
  var regionOfInterest: NormalizedRect { get set }
  var cropAndScaleAction: ImageCropAndScale { get set }
}

extension ClassificationRequest: FittedRequest {}
extension DetectionRequest: FittedRequest {}
extension SegmentationRequest: FittedRequest {}
extension PoseRequest: FittedRequest {}

extension VideoRequest: PlannedRequest {
  package var imageInput: ImageFeature {
    switch self {
    case .classification(let request): request.imageInput
    case .detection(let request): request.imageInput
    case .segmentation(let request): request.imageInput
    case .pose(let request): request.imageInput
    }
  }

  /// Returns the part of stored frames, in stored pixels, that the request reads; nil if it reads all, or if the part
  /// is not known before the frame.
  func storedPart(of facts: VideoFacts) -> PixelRect? {
    // The other ways to fit an image cut nothing.
    guard cropAndScaleAction == .centerCrop, regionOfInterest == .fullImage, !imageInput.isFlexible else { return nil }
    let sampler = ImageSampler(
      width: imageInput.width, height: imageInput.height, cropAndScale: cropAndScaleAction)
    return try? sampler.storedPart(width: facts.width, height: facts.height, orientation: facts.orientation)
  }

  package func running(_ predictor: Predictor, upTo size: ImageFeature.Size?) -> Self {
    switch self {
    case .classification(let request): .classification(request.running(predictor, upTo: size))
    case .detection(let request): .detection(request.running(predictor, upTo: size))
    case .segmentation(let request): .segmentation(request.running(predictor, upTo: size))
    case .pose(let request): .pose(request.running(predictor, upTo: size))
    }
  }

  package func result(
    of image: PixelBuffer, orientation: ImageOrientation, _ cancellation: Cancellation?
  ) throws(VisionError) -> VideoObservations {
    switch self {
    case .classification(let request): .classes(try request.result(of: image, orientation: orientation, cancellation))
    case .detection(let request):
      .objects(try request.result(of: image, orientation: orientation, cancellation).map { TrackedObject($0) })
    case .segmentation(let request): .segments(try request.result(of: image, orientation: orientation, cancellation))
    case .pose(let request):
      .poses(try request.result(of: image, orientation: orientation, cancellation).map { TrackedPose($0) })
    }
  }
}
