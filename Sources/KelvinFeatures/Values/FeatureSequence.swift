/// Texts, numbers, dictionaries or arrays in a row, all of one kind. Core ML calls it `MLSequence`; Swift has a `Sequence` of
/// its own.
public struct FeatureSequence: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case strings([String])
    case integers([Int64])
    case dictionaries([[ClassLabel: Double]])
    case arrays([MultiArray])
  }

  private let storage: Storage

  /// A sequence of texts.
  public init(strings: [String]) { storage = .strings(strings) }
  /// A sequence of numbers.
  public init(int64s: [Int64]) { storage = .integers(int64s) }

  /// A sequence of dictionaries, such as the probabilities of several things.
  public init(dictionaries: [[ClassLabel: Double]]) { storage = .dictionaries(dictionaries) }

  /// A sequence of arrays, each of a shape of its own. It refers to them, without copies.
  public init(multiArrays: [MultiArray]) { storage = .arrays(multiArrays) }

  /// What the sequence holds: ``FeatureType/string``, ``FeatureType/int64``, ``FeatureType/dictionary`` or
  /// ``FeatureType/multiArray``.
  public var type: FeatureType {
    switch storage {
    case .strings: .string
    case .integers: .int64
    case .dictionaries: .dictionary
    case .arrays: .multiArray
    }
  }

  /// The texts; none where the sequence holds something else.
  public var stringValues: [String] { if case .strings(let values) = storage { values } else { [] } }
  /// The dictionaries; none where the sequence holds something else.
  public var dictionaryValues: [[ClassLabel: Double]] {
    if case .dictionaries(let values) = storage { values } else { [] }
  }
  /// The numbers; none where the sequence holds something else.
  public var int64Values: [Int64] { if case .integers(let values) = storage { values } else { [] } }
  /// The arrays themselves; none where the sequence holds something else.
  public var multiArrayValues: [MultiArray] { if case .arrays(let values) = storage { values } else { [] } }
  /// The number of elements.
  public var count: Int {
    switch storage {
    case .strings(let values): values.count
    case .integers(let values): values.count
    case .dictionaries(let values): values.count
    case .arrays(let values): values.count
    }
  }
}
