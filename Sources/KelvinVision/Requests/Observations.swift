public import FoundationEssentials
public import Kelvin
import KelvinHostOperations

/// A result that a request found in an image.
public protocol VisionObservation: Codable, Sendable {
  /// The unique identifier of the observation, which its copies share. It does not take part in comparisons with `==`.
  var uuid: UUID { get }
  /// The confidence as the model outputs it, not clamped to 0…1.
  var confidence: Float { get }
}

/// A class that an image, or a part of it, may belong to.
public struct ClassificationObservation: VisionObservation, Hashable {
  /// The label.
  public let identifier: String
  public let confidence: Float
  public var uuid: UUID { identity.uuid }
  let curve: PrecisionRecallCurve?
  private let identity: ObservationIdentity

  /// Creates an observation from a label and its confidence.
  public init(identifier: String, confidence: Float) {
    self.init(identifier: identifier, confidence: confidence, curve: nil)
  }

  init(identifier: String, confidence: Float, curve: PrecisionRecallCurve?) {
    self.identifier = identifier
    self.confidence = confidence
    self.curve = curve
    identity = ObservationIdentity()
  }

  /// Whether the model has precision and recall curves for the class. Without them, the two methods below return false,
  /// and the first such call in the process prints a line to standard error.
  public var hasPrecisionRecallCurve: Bool { curve != nil }

  /// Returns whether the confidence reaches the threshold for a recall, and the precision at this threshold is
  /// sufficient.
  ///
  /// The threshold is the largest confidence at which the recall in the evaluation was at least `recall`.
  ///
  /// - Parameters:
  ///   - minimumPrecision: The smallest share of right answers at the threshold, 0…1.
  ///   - recall: The share of the class's images to find, 0…1. A large recall keeps many observations.
  public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool {
    guard let curve = knownCurve, let threshold = curve.threshold(forRecall: recall), confidence >= threshold,
      let precision = curve.precision(at: threshold)
    else { return false }
    return precision >= minimumPrecision
  }

  /// Returns whether the confidence reaches the threshold for a precision, and the recall at this threshold is
  /// sufficient.
  ///
  /// The threshold is the smallest confidence at which the precision in the evaluation was at least `precision`.
  ///
  /// - Parameters:
  ///   - minimumRecall: The smallest share of the class's images found at the threshold, 0…1.
  ///   - precision: The share of right answers, 0…1. A large precision keeps few observations.
  public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool {
    guard let curve = knownCurve, let threshold = curve.threshold(forPrecision: precision), confidence >= threshold
    else {
      return false
    }
    return curve.recall(at: threshold) >= minimumRecall
  }

  /// The curve for a filter that needs one.
  var knownCurve: PrecisionRecallCurve? {
    if curve == nil { MissingCurve.report(identifier) }
    return curve
  }
}

extension ClassificationObservation: Codable {
  private enum CodingKeys: CodingKey { case uuid, identifier, confidence, curve }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    identity = try values.decode(ObservationIdentity.self, forKey: .uuid)
    identifier = try values.decode(String.self, forKey: .identifier)
    confidence = try values.decode(Float.self, forKey: .confidence)
    curve = try values.decodeIfPresent(CurvePairs.self, forKey: .curve)?.curve { wrong in
      DecodingError.dataCorruptedError(
        forKey: .curve, in: values,
        debugDescription: "\(wrong) is not a point; expected [confidence, share] with a share from 0 to 1")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(identity, forKey: .uuid)
    try values.encode(identifier, forKey: .identifier)
    try values.encode(confidence, forKey: .confidence)
    try values.encodeIfPresent(curve.map(CurvePairs.init), forKey: .curve)
  }
}

/// An object that a detector found.
public struct RecognizedObjectObservation: VisionObservation, Hashable, Codable {
  /// The classes that the object may belong to, the most probable first.
  public let labels: [ClassificationObservation]
  /// The box in shares of the whole upright image, regardless of the part that the model saw and the method that fitted
  /// it to the input. A box may extend beyond the image's edges.
  public let boundingBox: NormalizedRect
  /// The confidence of the first label; 0 without labels.
  public let confidence: Float
  public var uuid: UUID { identity.uuid }
  private let identity: ObservationIdentity

  private enum CodingKeys: String, CodingKey { case labels, boundingBox, confidence, identity = "uuid" }

  /// Creates an object from its classes and its box.
  ///
  /// - Parameters:
  ///   - labels: The classes, in any order.
  ///   - boundingBox: The box in shares of the upright image.
  public init(labels: [ClassificationObservation], boundingBox: NormalizedRect) {
    self.labels = labels.sortedByConfidence()
    self.boundingBox = boundingBox
    confidence = self.labels.first?.confidence ?? 0
    identity = ObservationIdentity()
  }
}

/// An image that a model produced.
public struct PixelBufferObservation: VisionObservation, Hashable {
  /// The name of the output.
  public let featureName: String
  /// The image.
  public let pixelBuffer: PixelBuffer
  /// The confidence; always 1.
  public var confidence: Float { 1 }
  public var uuid: UUID { identity.uuid }
  private let identity: ObservationIdentity

  /// Creates an observation of an output image.
  public init(featureName: String, pixelBuffer: PixelBuffer) {
    self.featureName = featureName
    self.pixelBuffer = pixelBuffer
    identity = ObservationIdentity()
  }
}

extension PixelBufferObservation: Codable {
  private enum CodingKeys: CodingKey { case uuid, featureName, pixelBuffer }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    identity = try values.decode(ObservationIdentity.self, forKey: .uuid)
    featureName = try values.decode(String.self, forKey: .featureName)
    pixelBuffer = try values.decode(CodedImage.self, forKey: .pixelBuffer).pixels
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(identity, forKey: .uuid)
    try values.encode(featureName, forKey: .featureName)
    try values.encode(CodedImage(pixelBuffer), forKey: .pixelBuffer)
  }
}

/// An output of a model that is of another type.
public struct CoreMLFeatureValueObservation: VisionObservation, Hashable {
  /// The name of the output.
  public let featureName: String
  /// The value of the output.
  public let featureValue: FeatureValue
  /// The confidence; always 1.
  public var confidence: Float { 1 }
  public var uuid: UUID { identity.uuid }
  private let identity: ObservationIdentity

  /// Creates an observation of an output value.
  public init(featureName: String, featureValue: FeatureValue) {
    self.featureName = featureName
    self.featureValue = featureValue
    identity = ObservationIdentity()
  }
}

extension CoreMLFeatureValueObservation: Codable {
  private enum CodingKeys: CodingKey { case uuid, featureName, featureValue }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    identity = try values.decode(ObservationIdentity.self, forKey: .uuid)
    featureName = try values.decode(String.self, forKey: .featureName)
    featureValue = try values.decode(CodedFeatureValue.self, forKey: .featureValue).value
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(identity, forKey: .uuid)
    try values.encode(featureName, forKey: .featureName)
    try values.encode(CodedFeatureValue(featureValue), forKey: .featureValue)
  }
}

extension Sequence where Element == any VisionObservation {
  /// Returns the observations with at least this confidence, in their order. Observations with confidence NaN are left
  /// out.
  public func filter(minimumConfidence: Float) -> [any VisionObservation] {
    filter { $0.confidence >= minimumConfidence }
  }

  /// Returns the `count` most confident observations, the most confident first.
  public func top(_ count: Int) -> [any VisionObservation] { Array(sortedByConfidence().prefix(Swift.max(count, 0))) }

  /// Returns the observations of one type, in their order.
  public func of<Observation: VisionObservation>(_ type: Observation.Type) -> [Observation] {
    compactMap { $0 as? Observation }
  }

  func sortedByConfidence() -> [any VisionObservation] { sorted { precedes($0.confidence, $1.confidence) } }
}

extension Sequence where Element: VisionObservation {
  /// Returns the observations with at least this confidence, in their order. Observations with confidence NaN are left
  /// out.
  public func filter(minimumConfidence: Float) -> [Element] { filter { $0.confidence >= minimumConfidence } }

  /// Returns the `count` most confident observations, the most confident first.
  public func top(_ count: Int) -> [Element] {
    Array(sorted { precedes($0.confidence, $1.confidence) }.prefix(Swift.max(count, 0)))
  }
}

extension Sequence where Element == ClassificationObservation {
  /// Returns the observations sorted by confidence, the most probable first, then by label.
  func sortedByConfidence() -> [ClassificationObservation] {
    sorted {
      $0.confidence == $1.confidence || $0.confidence.isNaN && $1.confidence.isNaN
        ? $0.identifier < $1.identifier : precedes($0.confidence, $1.confidence)
    }
  }
}

/// Returns whether a confidence sorts before another; NaN sorts last.
private func precedes(_ a: Float, _ b: Float) -> Bool { a > b || (b.isNaN && !a.isNaN) }
