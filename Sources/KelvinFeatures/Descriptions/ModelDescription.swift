package import KelvinGraph
package import KelvinHostOperations

/// What a model takes and gives.
public struct ModelDescription: Hashable, Sendable {
  /// What the model takes, by name.
  public let inputDescriptionsByName: [String: FeatureDescription]
  /// What the model gives, by name.
  public let outputDescriptionsByName: [String: FeatureDescription]
  /// Memory that a stateful model keeps between predictions, by name.
  public let stateDescriptionsByName: [String: FeatureDescription]
  /// Constants of an ONNX model for which a prediction may give other values, by name: initialisers that are inputs too.
  public let overridableDescriptionsByName: [String: FeatureDescription]
  /// The inputs in the model's own order.
  public let inputNames: [String]
  /// The outputs in the model's own order.
  public let outputNames: [String]
  /// The output that holds the predicted label, for classifiers.
  public let predictedFeatureName: String?
  /// The output that holds the probability of each label, for classifiers that have one.
  public let predictedProbabilitiesName: String?
  /// The labels of a classifier or detector, in the order of its probabilities; empty otherwise.
  public let classLabels: [ClassLabel]
  /// What precision and recall a classifier's labels have, by their texts; empty where the model does not say.
  package let precisionRecallCurves: [String: PrecisionRecallCurve]
  /// How boxes come out of a detector; nil for other models.
  package let detection: KeptBoxes?
  /// What the author says of the model; every key has a text, perhaps an empty one.
  public let metadata: [ModelMetadataKey: String]
  /// The author's own entries.
  public let creatorDefinedMetadata: [String: String]
  /// Whether the model learns on the device. Kelvin does not train: always false.
  public var isUpdatable: Bool { false }

  /// Whether the model says of what class something is.
  package var isClassifier: Bool { predictedFeatureName != nil || predictedProbabilitiesName != nil }

  package init(_ function: Function, _ metadata: ModelMetadata) {
    func describe(_ features: [Feature]) -> [String: FeatureDescription] {
      Dictionary(features.map { ($0.name, FeatureDescription($0)) }) { first, _ in first }
    }
    inputDescriptionsByName = describe(function.inputs.filter { !$0.isState })
    stateDescriptionsByName = describe(function.inputs.filter(\.isState))
    outputDescriptionsByName = describe(function.outputs)
    overridableDescriptionsByName = describe(function.overridable)
    inputNames = function.inputs.filter { !$0.isState }.map(\.name)
    outputNames = function.outputs.map(\.name)
    let classification = function.classification
    precisionRecallCurves = classification?.curvesByLabel ?? [:]
    detection = function.detection
    predictedFeatureName = classification?.labelOutput
    predictedProbabilitiesName = classification?.probabilitiesOutput
    classLabels = (classification?.labels ?? detection?.labels)?.labels ?? []
    self.metadata = [
      .author: metadata.author, .license: metadata.license, .description: metadata.summary,
      .versionString: metadata.version,
    ]
    creatorDefinedMetadata = metadata.userDefined
  }
}

/// An entry of a model's metadata.
public enum ModelMetadataKey: String, Hashable, Sendable, CaseIterable {
  /// Who made the model.
  case author
  /// What the model may be used for.
  case license
  /// What the model does.
  case description
  /// The author's own version.
  case versionString
}

extension Feature {
  package var isState: Bool { if case .state = type { true } else { false } }
}

extension Labels {
  /// Each as a label of the public face.
  package var labels: [ClassLabel] {
    switch self {
    case .strings(let labels): labels.map(ClassLabel.string)
    case .integers(let labels): labels.map(ClassLabel.int64)
    }
  }
}
