import Kelvin

/// What a model takes, gives and remembers, as JSON has it.
struct DescriptionDocument: Encodable {
  struct Feature: Encodable {
    var name: String
    /// As `FeatureType` names it.
    var type: String
    var isOptional: Bool
    var summary: String
    var defaultValue: Double?
    /// Of arrays, of strings too, and states.
    var array: Array?
    var image: Image?
    /// The same under its former name.
    var picture: Image?
    /// Of the keys of dictionaries, or of the elements of sequences.
    var elements: String?
  }

  struct Array: Encodable {
    /// As `MultiArrayDataType` names it; string for strings.
    var dataType: String
    /// The usual sizes.
    var shape: [Int]
    /// The only shapes there are, where sizes are not ranges.
    var enumeratedShapes: [[Int]]
    /// The smallest and largest size of each dimension; a largest of 2^63 - 1 means that there is none.
    var ranges: [[Int]]
  }

  struct Image: Encodable {
    var width: Int
    var height: Int
    var channelOrder: String
    /// uint8, or float16 of grey images whose numbers are the model's, as they are.
    var dataType: String
    /// The only sizes there are, width and height, where they are not ranges.
    var enumeratedSizes: [[Int]]
    var widths: [Int]
    var heights: [Int]
  }

  var inputs: [Feature]
  var outputs: [Feature]
  var states: [Feature]
  /// Constants for which a prediction may give other values.
  var overridable: [Feature]
  var predictedFeatureName: String?
  var predictedProbabilitiesName: String?
  /// Strings, or whole numbers in digits.
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
