import KelvinBasics

/// A provider of feature values.
public protocol FeatureProvider: Sendable {
  /// The names of the features that have a value.
  var featureNames: Set<String> { get }
  /// Returns a feature's value; nil if it has none.
  func featureValue(for featureName: String) -> FeatureValue?
}

/// A dictionary of feature values provides them: `model.prediction(from: ["x": 1.5])`.
extension [String: FeatureValue]: FeatureProvider {
  public var featureNames: Set<String> { Set(keys) }
  public func featureValue(for featureName: String) -> FeatureValue? { self[exact: featureName] }
}

/// Feature values in a dictionary.
public struct DictionaryFeatureProvider: FeatureProvider, Hashable {
  /// The features' values, by name.
  public let dictionary: [String: FeatureValue]

  /// Creates a provider from the values of a dictionary.
  public init(dictionary: [String: FeatureValue]) { self.dictionary = dictionary }

  public var featureNames: Set<String> { Set(dictionary.keys) }
  public func featureValue(for featureName: String) -> FeatureValue? { dictionary[exact: featureName] }
  /// The value of a feature; nil if it has none.
  public subscript(featureName: String) -> FeatureValue? { dictionary[exact: featureName] }
}

/// A batch: the inputs or outputs of several predictions.
public protocol BatchProvider: Sendable {
  /// The number of items.
  var count: Int { get }
  /// Returns the features of an item, `0 <= index < count`.
  func features(at index: Int) -> any FeatureProvider
}

/// A batch in an array.
public struct ArrayBatchProvider: BatchProvider {
  /// The features of each item.
  public let array: [any FeatureProvider]

  /// Creates a batch from the items of an array.
  public init(array: [any FeatureProvider]) { self.array = array }

  /// Creates a batch from the values of each feature, by name. Each array has one value per item.
  ///
  /// - Throws: `ModelError` with code `featureType` if the arrays have different lengths.
  public init(dictionary: [String: [FeatureValue]]) throws(ModelError) {
    let counts = Set(dictionary.values.map(\.count))
    guard counts.count <= 1 else {
      let described = dictionary.sorted { $0.key < $1.key }.map { "'\($0.key)' has \($0.value.count)" }
      throw ModelError(
        .featureType, "every feature of a batch has one value an item: \(described.joined(separator: ", "))")
    }
    array = (0..<(counts.first ?? 0)).map { index in
      DictionaryFeatureProvider(dictionary: dictionary.mapValues { $0[index] })
    }
  }

  public var count: Int { array.count }
  public func features(at index: Int) -> any FeatureProvider { array[index] }
}
