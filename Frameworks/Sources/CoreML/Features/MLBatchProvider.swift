public import Foundation
public import Kelvin

/// A batch: the inputs or outputs of several predictions.
public protocol MLBatchProvider: AnyObject {
  /// The number of items.
  var count: Int { get }
  /// Returns the features of an item, `0 <= index < count`.
  func features(at index: Int) -> any MLFeatureProvider
}

extension MLBatchProvider {
  /// Kelvin's batch of the present values.
  public var kelvin: ArrayBatchProvider { ArrayBatchProvider(array: (0..<count).map { features(at: $0).kelvin }) }
}

/// A batch in an array.
public final class MLArrayBatchProvider: NSObject, MLBatchProvider, @unchecked Sendable {
  /// The features of each item.
  public let array: [any MLFeatureProvider]

  /// Creates a batch from the items of an array.
  public init(array: [any MLFeatureProvider]) { self.array = array }

  /// Creates a batch from the values of each feature. Each array has one value per item.
  ///
  /// - Throws: `MLModelError` (`featureType`) for arrays of different lengths, and for values as
  ///   ``MLDictionaryFeatureProvider`` does.
  public init(dictionary: [String: [Any]]) throws {
    let counts = Set(dictionary.values.map(\.count))
    guard counts.count <= 1 else {
      let described = dictionary.sorted { $0.key < $1.key }.map { "'\($0.key)' has \($0.value.count)" }
      throw MLModelError(
        .featureType, "every feature of a batch has one value an item: \(described.joined(separator: ", "))")
    }
    array = try (0..<(counts.first ?? 0)).map { index in
      try MLDictionaryFeatureProvider(dictionary: dictionary.mapValues { $0[index] })
    }
  }

  /// Creates a batch from one of Kelvin's.
  public init(_ batch: ArrayBatchProvider) {
    array = (0..<batch.count).map { MLDictionaryFeatureProvider(batch.features(at: $0)) }
  }

  public var count: Int { array.count }
  public func features(at index: Int) -> any MLFeatureProvider { array[index] }
}
