package import KelvinBasics
package import KelvinGraph
package import KelvinHostOperations

/// The inputs, outputs, states and metadata of a model.
public struct ModelDescription: Hashable, Sendable {
  /// The model's inputs, by name.
  public let inputDescriptionsByName: [String: FeatureDescription]
  /// The model's outputs, by name.
  public let outputDescriptionsByName: [String: FeatureDescription]
  /// The states that a stateful model keeps between predictions, by name.
  public let stateDescriptionsByName: [String: FeatureDescription]
  /// The constants of an ONNX model that a prediction may override, by name: initializers that are also inputs.
  public let overridableDescriptionsByName: [String: FeatureDescription]
  /// The names of the inputs, in the model's order.
  public let inputNames: [String]
  /// The names of the outputs, in the model's order.
  public let outputNames: [String]
  /// The output that contains the predicted label; nil if the model is not a classifier.
  public let predictedFeatureName: String?
  /// The output that contains the probability of each label; nil for other models and for classifiers without one.
  public let predictedProbabilitiesName: String?
  /// The labels of a classifier or detector, in the order of its probabilities; empty for other models.
  public let classLabels: [ClassLabel]
  /// The precision and recall curves of a classifier's labels, by label; empty if the model has none.
  package let precisionRecallCurves: [ExactString: PrecisionRecallCurve]
  /// The format of a detector's boxes; nil for other models.
  package let detection: KeptBoxes?
  /// The model's metadata. Every key has a string, which may be empty.
  public let metadata: [ModelMetadataKey: String]
  /// The custom metadata entries.
  public let creatorDefinedMetadata: [String: String]
  /// Whether the model's author intends it to be trained on a device. Kelvin runs such models and does not train them.
  public let isUpdatable: Bool

  /// Whether the model is a classifier.
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
    isUpdatable = metadata.isUpdatable
  }
}

/// A key of a model's metadata.
public enum ModelMetadataKey: String, Hashable, Sendable, CaseIterable {
  /// The model's author.
  case author
  /// The model's license.
  case license
  /// The description of the model.
  case description
  /// The author's version of the model.
  case versionString
}

extension Feature {
  package var isState: Bool { if case .state = type { true } else { false } }
}

extension Labels {
  /// The labels as public class labels.
  package var labels: [ClassLabel] {
    switch self {
    case .strings(let labels): labels.map(ClassLabel.string)
    case .integers(let labels): labels.map(ClassLabel.int64)
    }
  }
}
