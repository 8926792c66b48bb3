package import KelvinGraph
import KelvinImages

/// One input or output of a model.
public struct FeatureDescription: Hashable, Sendable {
  /// The feature's name.
  public let name: String
  /// What kind of value the feature takes.
  public let type: FeatureType
  /// Whether an input may be left out.
  public let isOptional: Bool
  /// The author's words.
  public let summary: String
  /// The number that fills an optional input which is left out; nil where there is none.
  public let defaultValue: Double?
  /// The arrays the feature takes; nil for other features.
  public let multiArrayConstraint: MultiArrayConstraint?
  /// The images the feature takes; nil for other features.
  public let imageConstraint: ImageConstraint?
  /// The dictionaries the feature takes; nil for other features.
  public let dictionaryConstraint: DictionaryConstraint?
  /// The sequences the feature takes; nil for other features.
  public let sequenceConstraint: SequenceConstraint?
  /// The array that a state holds; nil for other features.
  public let stateConstraint: MultiArrayConstraint?

  package init(_ feature: Feature) {
    name = feature.name
    isOptional = feature.isOptional
    summary = feature.summary
    defaultValue = feature.defaultValue
    var (array, state): (MultiArrayConstraint?, MultiArrayConstraint?)
    var image: ImageConstraint?
    var dictionary: DictionaryConstraint?
    var sequence: SequenceConstraint?
    switch feature.type {
    case .tensor(let scalar, let dimensions):
      type = .multiArray
      array = MultiArrayConstraint(scalar, dimensions, feature.allowedShapes)
    case .state(let scalar, let dimensions):
      type = .state
      state = MultiArrayConstraint(scalar, dimensions, [])
    case .image(let declared):
      type = .image
      image = ImageConstraint(declared)
    case .int64: type = .int64
    case .double: type = .double
    case .string: type = .string
    case .dictionary(let keys):
      type = .dictionary
      dictionary = DictionaryConstraint(keyType: keys == .int64 ? .int64 : .string)
    case .sequence(let values):
      type = .sequence
      sequence = SequenceConstraint(valueType: values == .int64 ? .int64 : .string)
    case .strings(let dimensions):
      type = .sequence
      sequence = SequenceConstraint(valueType: .string, sizeRangeForDimension: dimensions.map(\.range))
    case .dictionaries:
      type = .sequence
      sequence = SequenceConstraint(valueType: .dictionary)
    case .tensors:
      type = .sequence
      sequence = SequenceConstraint(valueType: .multiArray)
    }
    multiArrayConstraint = array
    imageConstraint = image
    dictionaryConstraint = dictionary
    sequenceConstraint = sequence
    stateConstraint = state
  }

  /// Whether a prediction takes this value for the feature.
  ///
  /// An array has one of the allowed shapes, and only whole numbers where integers are asked for; its element type is
  /// converted. An image made by ``FeatureValue/init(image:orientation:cropAndScale:cropRect:)`` is brought to an
  /// allowed size; another one has it already. Nothing is given (`FeatureValue(undefined:)`) only to an optional
  /// feature.
  public func isAllowedValue(_ value: FeatureValue) -> Bool {
    if value.isUndefined { return isOptional && value.type == type }
    switch (value.storage, type) {
    case (.multiArray(let array), .multiArray): return multiArrayConstraint?.accepts(array) ?? false
    case (.image(let image), .image):
      return image.cropAndScale != nil
        || imageConstraint?.accepts(width: image.pixels.width, height: image.pixels.height) ?? false
    case (.backing(let image), .image):
      return imageConstraint?.accepts(width: image.width, height: image.height) ?? false
    case (.dictionary(let entries), .dictionary):
      return entries.keys.allSatisfy { key in
        if case .int64 = key {
          dictionaryConstraint?.keyType == .int64
        } else {
          dictionaryConstraint?.keyType == .string
        }
      }
    case (.sequence(let sequence), .sequence):
      return sequence.type == sequenceConstraint?.valueType
    case (.int64, .int64), (.int64, .double), (.double, .double), (.string, .string): return true
    default: return false
    }
  }
}

/// The dictionaries a feature takes.
public struct DictionaryConstraint: Hashable, Sendable {
  /// The type of the keys: ``FeatureType/string`` or ``FeatureType/int64``.
  public let keyType: FeatureType
}

/// The sequences a feature takes.
public struct SequenceConstraint: Hashable, Sendable {
  /// The type of the elements: ``FeatureType/string``, ``FeatureType/int64``, ``FeatureType/dictionary`` or
  /// ``FeatureType/multiArray``.
  public let valueType: FeatureType
  /// The smallest and largest size of each dimension of texts in an array, `Int.max` where there is no largest; nil of
  /// values in a row.
  public let sizeRangeForDimension: [ClosedRange<Int>]?

  init(valueType: FeatureType, sizeRangeForDimension: [ClosedRange<Int>]? = nil) {
    self.valueType = valueType
    self.sizeRangeForDimension = sizeRangeForDimension
  }
}
