import KelvinGraph

/// A sequence of strings, numbers, dictionaries or arrays, all of one type, or an array of strings. Core ML's name is
/// `MLSequence`; the name `Sequence` is taken by Swift's protocol.
public struct FeatureSequence: Hashable, Sendable {
  private enum Storage: Hashable, Sendable {
    case strings([String], shape: [Int])
    case integers([Int64])
    case dictionaries([[ClassLabel: Double]])
    case arrays([MultiArray])
  }

  private let storage: Storage

  /// Creates a sequence of strings.
  public init(strings: [String]) { storage = .strings(strings, shape: [strings.count]) }

  /// Creates an array of strings, as inputs and outputs of ONNX models use them.
  ///
  /// - Parameters:
  ///   - strings: the array's strings, row-major.
  ///   - shape: the array's shape; empty for a single string.
  /// - Precondition: the sizes are not negative, and their product is the number of strings.
  public init(strings: [String], shape: [Int]) {
    precondition(
      Self.count(of: shape) == strings.count, "\(strings.count) strings for an array of the shape \(shape)")
    storage = .strings(strings, shape: shape)
  }

  /// Returns the number of elements of an array of this shape; nil for an invalid shape.
  package static func count(of shape: [Int]) -> Int? {
    let shape = Shape(shape)
    return shape.isAddressable ? shape.count : nil
  }

  /// Creates a sequence of numbers.
  public init(int64s: [Int64]) { storage = .integers(int64s) }

  /// Creates a sequence of dictionaries, such as the class probabilities of several objects.
  public init(dictionaries: [[ClassLabel: Double]]) { storage = .dictionaries(dictionaries) }

  /// Creates a sequence of arrays, which may have different shapes. The sequence refers to them without copies.
  public init(multiArrays: [MultiArray]) { storage = .arrays(multiArrays) }

  /// The type of the elements: ``FeatureType/string``, ``FeatureType/int64``, ``FeatureType/dictionary`` or
  /// ``FeatureType/multiArray``.
  public var type: FeatureType {
    switch storage {
    case .strings: .string
    case .integers: .int64
    case .dictionaries: .dictionary
    case .arrays: .multiArray
    }
  }

  /// The strings, row-major; empty if the elements are of another type.
  public var stringValues: [String] { if case .strings(let values, _) = storage { values } else { [] } }
  /// The shape of an array of strings; `[count]` for other sequences.
  public var shape: [Int] { if case .strings(_, let shape) = storage { shape } else { [count] } }
  /// The dictionaries; empty if the elements are of another type.
  public var dictionaryValues: [[ClassLabel: Double]] {
    if case .dictionaries(let values) = storage { values } else { [] }
  }
  /// The numbers; empty if the elements are of another type.
  public var int64Values: [Int64] { if case .integers(let values) = storage { values } else { [] } }
  /// The arrays, without copies; empty if the elements are of another type.
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
