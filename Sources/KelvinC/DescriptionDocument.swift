import Kelvin

/// The JSON document of a model's description.
struct DescriptionDocument: Encodable {
  struct Feature: Encodable {
    var name: String
    /// The name of the `FeatureType`.
    var type: String
    var isOptional: Bool
    var summary: String
    var defaultValue: Double?
    /// The constraint of arrays, including arrays of strings and states.
    var array: Array?
    var image: Image?
    /// The same as `image`, under its former name.
    var picture: Image?
    /// The type of a dictionary's keys or a sequence's elements.
    var elements: String?
  }

  struct Array: Encodable {
    /// The name of the `MultiArrayDataType`; `string` for strings.
    var dataType: String
    /// The default shape.
    var shape: [Int]
    /// The allowed shapes if they are enumerated; else empty.
    var enumeratedShapes: [[Int]]
    /// The smallest and largest size of each dimension. A largest size of 2^63 - 1 means unbounded.
    var ranges: [[Int]]
  }

  struct Image: Encodable {
    var width: Int
    var height: Int
    var channelOrder: String
    /// `uint8`, or `float16` for grayscale images whose values the model uses unchanged.
    var dataType: String
    /// The allowed sizes as width and height, if they are enumerated; else empty.
    var enumeratedSizes: [[Int]]
    var widths: [Int]
    var heights: [Int]
  }

  var inputs: [Feature]
  var outputs: [Feature]
  var states: [Feature]
  /// The constants that a prediction may override.
  var overridable: [Feature]
  var predictedFeatureName: String?
  var predictedProbabilitiesName: String?
  /// The labels: strings, or integers in digits.
  var classLabels: [String]
  var metadata: [String: String]
  var creatorDefinedMetadata: [String: String]

  init(_ description: ModelDescription) {
    inputs = description.inputNames.compactMap { description.inputDescriptionsByName[$0].map(Feature.init) }
    outputs = description.outputNames.compactMap { description.outputDescriptionsByName[$0].map(Feature.init) }
    states = description.stateDescriptionsByName.values.sorted { $0.name < $1.name }.map(Feature.init)
    overridable = description.overridableDescriptionsByName.values.sorted { $0.name < $1.name }.map(Feature.init)
    predictedFeatureName = description.predictedFeatureName
    predictedProbabilitiesName = description.predictedProbabilitiesName
    classLabels = description.classLabels.map(\.description)
    metadata = Dictionary(uniqueKeysWithValues: description.metadata.map { ($0.rawValue, $1) })
    creatorDefinedMetadata = description.creatorDefinedMetadata
  }
}

extension DescriptionDocument.Feature {
  init(_ feature: FeatureDescription) {
    name = feature.name
    type = feature.type.rawValue
    isOptional = feature.isOptional
    summary = feature.summary
    defaultValue = feature.defaultValue
    array = (feature.multiArrayConstraint ?? feature.stateConstraint).map(DescriptionDocument.Array.init)
    image = feature.imageConstraint.map(DescriptionDocument.Image.init)
    picture = image
    if let ranges = feature.sequenceConstraint?.sizeRangeForDimension {
      array = DescriptionDocument.Array(texts: ranges)
    }
    elements = (feature.dictionaryConstraint?.keyType ?? feature.sequenceConstraint?.valueType)?.rawValue
  }
}

extension DescriptionDocument.Array {
  init(_ constraint: MultiArrayConstraint) {
    dataType = constraint.dataType.rawValue
    shape = constraint.shape
    enumeratedShapes = constraint.shapeConstraint.enumeratedShapes
    ranges = constraint.shapeConstraint.sizeRangeForDimension.map { [$0.lowerBound, $0.upperBound] }
  }

  init(texts sizes: [ClosedRange<Int>]) {
    dataType = "string"
    shape = sizes.map { max($0.lowerBound, min($0.upperBound, 1)) }
    enumeratedShapes = []
    ranges = sizes.map { [$0.lowerBound, $0.upperBound] }
  }
}

extension DescriptionDocument.Image {
  init(_ constraint: ImageConstraint) {
    width = constraint.pixelsWide
    height = constraint.pixelsHigh
    channelOrder = "\(constraint.channelOrder)"
    dataType = constraint.isHalfPrecision ? "float16" : "uint8"
    let sizes = constraint.sizeConstraint
    enumeratedSizes = sizes.enumeratedImageSizes.map { [$0.pixelsWide, $0.pixelsHigh] }
    widths = [sizes.pixelsWideRange.lowerBound, sizes.pixelsWideRange.upperBound]
    heights = [sizes.pixelsHighRange.lowerBound, sizes.pixelsHighRange.upperBound]
  }
}
