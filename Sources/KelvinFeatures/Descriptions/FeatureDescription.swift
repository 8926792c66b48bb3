package import KelvinGraph
import KelvinImages

/// An input, output or state of a model.
public struct FeatureDescription: Hashable, Sendable {
  /// The feature's name.
  public let name: String
  /// The type of the feature's values.
  public let type: FeatureType
  /// Whether the input may be omitted.
  public let isOptional: Bool
  /// The author's description of the feature.
  public let summary: String
  /// The number that replaces an omitted optional input; nil if there is no default.
  public let defaultValue: Double?
  /// The arrays that the feature accepts; nil for features of other types.
  public let multiArrayConstraint: MultiArrayConstraint?
  /// The images that the feature accepts; nil for features of other types.
  public let imageConstraint: ImageConstraint?
  /// The dictionaries that the feature accepts; nil for features of other types.
  public let dictionaryConstraint: DictionaryConstraint?
  /// The sequences that the feature accepts; nil for features of other types.
  public let sequenceConstraint: SequenceConstraint?
  /// The array that a state contains; nil for features of other types.
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
      array = MultiArrayConstraint(scalar, dimensions, feature.allowedShapes, isOpen: feature.takesAnyShape)
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

  /// Returns whether a prediction accepts this value for the feature.
  ///
  /// An array must have an allowed shape, and contain only integers if the feature's type is an integer type. Its
  /// element type is converted. An image made by ``FeatureValue/init(image:orientation:cropAndScale:cropRect:)`` is
  /// scaled to an allowed size; any other image must already have an allowed size. An undefined value
  /// (`FeatureValue(undefined:)`) is allowed only for an optional feature.
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

/// The dictionaries that a feature accepts.
public struct DictionaryConstraint: Hashable, Sendable {
  /// The type of the keys: ``FeatureType/string`` or ``FeatureType/int64``.
  public let keyType: FeatureType
}

/// The sequences that a feature accepts.
public struct SequenceConstraint: Hashable, Sendable {
  /// The type of the elements: ``FeatureType/string``, ``FeatureType/int64``, ``FeatureType/dictionary`` or
  /// ``FeatureType/multiArray``.
  public let valueType: FeatureType
  /// The allowed sizes of each dimension of an array of strings. The upper bound is `Int.max` for an unbounded
  /// dimension. Nil for one-dimensional sequences.
  public let sizeRangeForDimension: [ClosedRange<Int>]?

  init(valueType: FeatureType, sizeRangeForDimension: [ClosedRange<Int>]? = nil) {
    self.valueType = valueType
    self.sizeRangeForDimension = sizeRangeForDimension
  }
}
