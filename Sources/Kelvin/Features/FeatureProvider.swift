/// Something that has values for features.
public protocol FeatureProvider: Sendable {
  var featureNames: Set<String> { get }
  func featureValue(for featureName: String) -> FeatureValue?
}

/// Features in a dictionary.
public struct DictionaryFeatureProvider: FeatureProvider, Hashable {
  public let dictionary: [String: FeatureValue]

  public init(dictionary: [String: FeatureValue]) { self.dictionary = dictionary }

  public var featureNames: Set<String> { Set(dictionary.keys) }
  public func featureValue(for featureName: String) -> FeatureValue? { dictionary[featureName] }
  public subscript(featureName: String) -> FeatureValue? { dictionary[featureName] }
}
