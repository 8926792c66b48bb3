import KelvinGraph
public import KelvinImages

/// What a model takes and gives.
public struct ModelDescription: Hashable, Sendable {
  public let inputDescriptionsByName: [String: FeatureDescription]
  public let outputDescriptionsByName: [String: FeatureDescription]
  public let stateDescriptionsByName: [String: FeatureDescription]
  /// The inputs in the model's own order.
  public let inputNames: [String]
  public let outputNames: [String]
  /// The output that holds the predicted label, for classifiers.
  public let predictedFeatureName: String?
  /// The output that holds the probability of each label, for classifiers that have one.
  public let predictedProbabilitiesName: String?
  /// A classifier's labels in the order of its probabilities; empty otherwise.
  public let classLabels: [ClassLabel]
  public let metadata: [ModelMetadataKey: String]
  /// The author's own entries.
  public let creatorDefinedMetadata: [String: String]

  init(_ function: Function, _ metadata: ModelMetadata) {
    func describe(_ features: [Feature]) -> [String: FeatureDescription] {
      Dictionary(features.map { ($0.name, FeatureDescription($0)) }) { first, _ in first }
    }
    inputDescriptionsByName = describe(function.inputs.filter { !$0.isState })
    stateDescriptionsByName = describe(function.inputs.filter(\.isState))
    outputDescriptionsByName = describe(function.outputs)
    inputNames = function.inputs.map(\.name)
    outputNames = function.outputs.map(\.name)
    predictedFeatureName = function.classifier?.labelOutput
    predictedProbabilitiesName = function.classifier?.probabilitiesOutput
    classLabels = function.classifier?.labels.labels ?? []
    self.metadata = [
      .author: metadata.author, .license: metadata.license, .description: metadata.summary,
      .versionString: metadata.version,
    ]
    creatorDefinedMetadata = metadata.userDefined
  }
}

public enum ModelMetadataKey: String, Hashable, Sendable {
  case author, license, description, versionString
}

/// One input or output of a model.
public struct FeatureDescription: Hashable, Sendable {
  public let name: String
  public let type: FeatureType
  /// Whether an input may be left out.
  public let isOptional: Bool
  /// The author's words.
  public let summary: String
  public let multiArrayConstraint: MultiArrayConstraint?
  public let imageConstraint: ImageConstraint?

  init(_ feature: Feature) {
    name = feature.name
    isOptional = feature.isOptional
    summary = feature.summary
    var array: MultiArrayConstraint?
    var image: ImageConstraint?
    switch feature.type {
    case .tensor(let scalar, let dimensions):
      type = .multiArray
      array = MultiArrayConstraint(scalar, dimensions)
    case .state(let scalar, let dimensions):
      type = .state
      array = MultiArrayConstraint(scalar, dimensions)
    case .image(let feature):
      type = .image
      image = ImageConstraint(
        pixelsWide: feature.width, pixelsHigh: feature.height,
        channelOrder: ChannelOrder(rawValue: feature.layout.rawValue) ?? .rgb)
    case .int64: type = .int64
    case .double: type = .double
    case .string: type = .string
    case .dictionary: type = .dictionary
    case .sequence: type = .sequence
    }
    multiArrayConstraint = array
    imageConstraint = image
  }
}

/// The arrays a feature takes.
public struct MultiArrayConstraint: Hashable, Sendable {
  /// The usual size of each dimension; where a flexible one has none, its smallest.
  public let shape: [Int]
  public let dataType: MultiArrayDataType
  /// The sizes each dimension may have.
  public let sizeRanges: [ClosedRange<Int>]

  init(_ scalar: ScalarType, _ dimensions: [Dimension]) {
    dataType = MultiArrayDataType(scalar)
    shape = dimensions.map {
      switch $0 {
      case .fixed(let size): size
      case .flexible(_, let range, let standard): standard ?? range.lowerBound
      }
    }
    sizeRanges = dimensions.map {
      switch $0 {
      case .fixed(let size): size...size
      case .flexible(_, let range, _): range
      }
    }
  }
}

/// The pictures a feature takes, in pixels.
public struct ImageConstraint: Hashable, Sendable {
  public let pixelsWide: Int
  public let pixelsHigh: Int
  public let channelOrder: ChannelOrder
}

extension Feature {
  var isState: Bool { if case .state = type { true } else { false } }
}

extension Classifier.Labels {
  var labels: [ClassLabel] {
    switch self {
    case .strings(let labels): labels.map(ClassLabel.string)
    case .integers(let labels): labels.map(ClassLabel.int64)
    }
  }
}
