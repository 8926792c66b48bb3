public import Foundation
public import Kelvin

/// The inputs, outputs, states and metadata of a model.
public final class MLModelDescription: NSObject, Sendable {
  /// Kelvin's description.
  public let kelvin: ModelDescription

  /// Creates a description from one of Kelvin's.
  public init(_ description: ModelDescription) { kelvin = description }

  /// The model's inputs, by name.
  public var inputDescriptionsByName: [String: MLFeatureDescription] {
    kelvin.inputDescriptionsByName.mapValues { MLFeatureDescription($0) }
  }
  /// The model's outputs, by name.
  public var outputDescriptionsByName: [String: MLFeatureDescription] {
    kelvin.outputDescriptionsByName.mapValues { MLFeatureDescription($0) }
  }
  /// The model's states, by name.
  public var stateDescriptionsByName: [String: MLFeatureDescription] {
    kelvin.stateDescriptionsByName.mapValues { MLFeatureDescription($0) }
  }
  /// The inputs of training, which Kelvin does not do: none.
  public var trainingInputDescriptionsByName: [String: MLFeatureDescription] { [:] }
  /// The output that contains the predicted label; nil if the model is not a classifier.
  public var predictedFeatureName: String? { kelvin.predictedFeatureName }
  /// The output that contains the probability of each label; nil for other models.
  public var predictedProbabilitiesName: String? { kelvin.predictedProbabilitiesName }
  /// The labels of a classifier, strings or integers; nil for other models.
  public var classLabels: [Any]? {
    if kelvin.classLabels.isEmpty { return nil }
    return kelvin.classLabels.map { label in
      switch label {
      case .string(let text): text as Any
      case .int64(let integer): NSNumber(value: integer) as Any
      }
    }
  }
  /// Whether the model's author intends it to be trained on a device. Kelvin does not train models.
  public var isUpdatable: Bool { kelvin.isUpdatable }

  /// The model's metadata: strings, and for ``MLModelMetadataKey/creatorDefinedKey`` a dictionary of strings.
  public var metadata: [MLModelMetadataKey: Any] {
    [
      .author: kelvin.metadata[.author] ?? "", .license: kelvin.metadata[.license] ?? "",
      .description: kelvin.metadata[.description] ?? "", .versionString: kelvin.metadata[.versionString] ?? "",
      .creatorDefinedKey: kelvin.creatorDefinedMetadata,
    ]
  }

  /// Returns whether both describe the same features and metadata.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MLModelDescription).map { kelvin == $0.kelvin } ?? false
  }
  /// A hash of the description.
  public override var hash: Int { kelvin.hashValue }
}

/// A key of a model's metadata.
public struct MLModelMetadataKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Creates a key from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The model's author.
  public static let author = MLModelMetadataKey(rawValue: "MLModelAuthorKey")
  /// The model's license.
  public static let license = MLModelMetadataKey(rawValue: "MLModelLicenseKey")
  /// The description of the model.
  public static let description = MLModelMetadataKey(rawValue: "MLModelDescriptionKey")
  /// The author's version of the model.
  public static let versionString = MLModelMetadataKey(rawValue: "MLModelVersionStringKey")
  /// The custom entries, a dictionary of strings.
  public static let creatorDefinedKey = MLModelMetadataKey(rawValue: "MLModelCreatorDefinedKey")
}
