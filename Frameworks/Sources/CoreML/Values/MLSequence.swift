public import Foundation
public import Kelvin

/// A sequence of strings or integers.
public final class MLSequence: NSObject, @unchecked Sendable {
  /// Kelvin's sequence.
  public let kelvin: FeatureSequence

  /// Creates a sequence from one of Kelvin's.
  public init(_ sequence: FeatureSequence) { kelvin = sequence }

  /// Creates a sequence of strings.
  public convenience init(strings stringValues: [String]) { self.init(FeatureSequence(strings: stringValues)) }

  /// Creates a sequence of integers.
  public convenience init(int64s int64Values: [NSNumber]) {
    self.init(FeatureSequence(int64s: int64Values.map(\.int64Value)))
  }

  /// Creates an empty sequence of strings or integers.
  public convenience init(empty type: MLFeatureType) {
    self.init(type == .int64 ? FeatureSequence(int64s: []) : FeatureSequence(strings: []))
  }

  /// The type of the elements.
  public var type: MLFeatureType { MLFeatureType(kelvin.type) }
  /// The strings; empty if the elements are integers.
  public var stringValues: [String] { kelvin.stringValues }
  /// The integers; empty if the elements are strings.
  public var int64Values: [NSNumber] { kelvin.int64Values.map { NSNumber(value: $0) } }

  /// Returns whether both have the same elements.
  public override func isEqual(_ object: Any?) -> Bool { (object as? MLSequence).map { kelvin == $0.kelvin } ?? false }
  /// A hash of the elements.
  public override var hash: Int { kelvin.hashValue }
}
