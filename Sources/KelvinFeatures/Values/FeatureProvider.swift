/// Something that has values for features.
public protocol FeatureProvider: Sendable {
  /// The features it has values for.
  var featureNames: Set<String> { get }
  /// A feature's value; nil where it has none.
  func featureValue(for featureName: String) -> FeatureValue?
}

/// Features in a dictionary.
public struct DictionaryFeatureProvider: FeatureProvider, Hashable {
  /// Every feature's value, by name.
  public let dictionary: [String: FeatureValue]

  /// Takes the values of a dictionary.
  public init(dictionary: [String: FeatureValue]) { self.dictionary = dictionary }

  public var featureNames: Set<String> { Set(dictionary.keys) }
  public func featureValue(for featureName: String) -> FeatureValue? { dictionary[featureName] }
  /// A feature's value; nil where there is none.
  public subscript(featureName: String) -> FeatureValue? { dictionary[featureName] }
}

/// Inputs of many predictions, or their outputs.
public protocol BatchProvider: Sendable {
  /// The number of items.
  var count: Int { get }
  /// The features of an item, `0 <= index < count`.
  func features(at index: Int) -> any FeatureProvider
}

/// A batch in an array.
public struct ArrayBatchProvider: BatchProvider {
  /// The features of each item.
  public let array: [any FeatureProvider]

  /// Takes the items of an array.
  public init(array: [any FeatureProvider]) { self.array = array }

  /// Takes values for each feature by name, one an item.
  ///
  /// - Throws: `ModelError` with code `featureType` where features have different numbers of values.
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
