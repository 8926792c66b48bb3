import KelvinGraph

/// Strings, numbers, dictionaries or arrays in a row, all of one kind, or strings in an array. Core ML calls it `MLSequence`;
/// Swift has a `Sequence` of its own.
public struct FeatureSequence: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case strings([String], shape: [Int])
    case integers([Int64])
    case dictionaries([[ClassLabel: Double]])
    case arrays([MultiArray])
  }

  private let storage: Storage

  /// A sequence of strings.
  public init(strings: [String]) { storage = .strings(strings, shape: [strings.count]) }

  /// An array of strings: an input or output of an ONNX model.
  ///
  /// - Parameters:
  ///   - strings: its strings, row-major.
  ///   - shape: its sizes; none for a string by itself.
  /// - Precondition: a shape of no negative sizes has as many strings.
  public init(strings: [String], shape: [Int]) {
    precondition(
      Self.count(of: shape) == strings.count, "\(strings.count) strings for an array of the shape \(shape)")
    storage = .strings(strings, shape: shape)
  }

  /// How many elements an array of these sizes has; nil where there is none of them.
  package static func count(of shape: [Int]) -> Int? {
    let shape = Shape(shape)
    return shape.isAddressable ? shape.count : nil
  }

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

  /// The strings, row-major; none where the sequence holds something else.
  public var stringValues: [String] { if case .strings(let values, _) = storage { values } else { [] } }
  /// The sizes of an array of strings; of everything else `[count]`.
  public var shape: [Int] { if case .strings(_, let shape) = storage { shape } else { [count] } }
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
    case .strings(let values, _): values.count
    case .integers(let values): values.count
    case .dictionaries(let values): values.count
    case .arrays(let values): values.count
    }
  }
}
