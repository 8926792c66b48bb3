public import Foundation
public import Kelvin

/// A provider of feature values. Generated classes and programs implement it.
public protocol MLFeatureProvider: AnyObject {
  /// The names of the features that have a value.
  var featureNames: Set<String> { get }
  /// Returns a feature's value; nil if it has none.
  func featureValue(for featureName: String) -> MLFeatureValue?
}

extension MLFeatureProvider {
  /// Kelvin's provider of the present values.
  public var kelvin: DictionaryFeatureProvider {
    var values: [String: FeatureValue] = [:]
    for name in featureNames { values[name] = featureValue(for: name)?.kelvin }
    return DictionaryFeatureProvider(dictionary: values)
  }
}

/// Feature values in a dictionary.
public final class MLDictionaryFeatureProvider: NSObject, MLFeatureProvider, @unchecked Sendable {
  /// The values, by name.
  public let dictionary: [String: MLFeatureValue]

  /// Creates a provider.
  ///
  /// - Parameter dictionary: values of the type ``MLFeatureValue``, numbers, strings, arrays, images, sequences and
  ///   dictionaries of numbers.
  /// - Throws: `MLModelError` (`featureType`) for other values.
  public init(dictionary: [String: Any]) throws {
    var values: [String: MLFeatureValue] = [:]
    for (name, value) in dictionary { values[name] = try MLFeatureValue.of(value, feature: name) }
    self.dictionary = values
  }

  /// Creates a provider of the values of one of Kelvin's.
  public init(_ provider: some FeatureProvider) {
    var values: [String: MLFeatureValue] = [:]
    for name in provider.featureNames { values[name] = provider.featureValue(for: name).map { MLFeatureValue($0) } }
    dictionary = values
  }

  /// Creates a provider of the values of a prediction, some of which are objects that the caller gave.
  init(_ provider: some FeatureProvider, replacing given: [String: MLFeatureValue]) {
    var values: [String: MLFeatureValue] = [:]
    for name in provider.featureNames {
      values[name] = given[name] ?? provider.featureValue(for: name).map { MLFeatureValue($0) }
    }
    dictionary = values
  }

  public var featureNames: Set<String> { Set(dictionary.keys) }
  public func featureValue(for featureName: String) -> MLFeatureValue? { dictionary[featureName] }
  /// The value of a feature; nil if it has none.
  public subscript(featureName: String) -> MLFeatureValue? { dictionary[featureName] }
}
