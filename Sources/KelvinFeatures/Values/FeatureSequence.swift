/// Texts or numbers in a row, all of one kind. Core ML calls it `MLSequence`; Swift has a `Sequence` of its own.
public struct FeatureSequence: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case strings([String])
    case integers([Int64])
  }

  private let storage: Storage

  /// A sequence of texts.
  public init(strings: [String]) { storage = .strings(strings) }
  /// A sequence of numbers.
  public init(int64s: [Int64]) { storage = .integers(int64s) }

  /// What the sequence holds: ``FeatureType/string`` or ``FeatureType/int64``.
  public var type: FeatureType {
    switch storage {
    case .strings: .string
    case .integers: .int64
    }
  }

  /// The texts; none where the sequence holds numbers.
  public var stringValues: [String] { if case .strings(let values) = storage { values } else { [] } }
  /// The numbers; none where the sequence holds texts.
  public var int64Values: [Int64] { if case .integers(let values) = storage { values } else { [] } }
  /// The number of elements.
  public var count: Int {
    switch storage {
    case .strings(let values): values.count
    case .integers(let values): values.count
    }
  }
}
