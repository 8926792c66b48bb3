import KelvinBasics
import KelvinGraph

/// An ordered list of values of one kind, as in the tables of host operations.
package enum Column: Sendable, Hashable {
  case strings([String])
  case integers([Int64])
  case floats([Float])

  package var count: Int {
    switch self {
    case .strings(let values): values.count
    case .integers(let values): values.count
    case .floats(let values): values.count
    }
  }

  /// A lookup key; all not-a-numbers are equal.
  enum Key: Sendable, Hashable {
    case string(ExactString)
    case integer(Int64)
    case float(UInt32)

    init(_ value: Float) { self = .float((value.isNaN ? Float.nan : value == 0 ? 0 : value).bitPattern) }

    var description: String {
      switch self {
      case .string(let string): "'\(string)'"
      case .integer(let number): "\(number)"
      case .float(let bits): "\(Float(bitPattern: bits))"
      }
    }
  }

  var keys: [Key] {
    switch self {
    case .strings(let values): values.map { .string(ExactString($0)) }
    case .integers(let values): values.map(Key.integer)
    case .floats(let values): values.map { Key($0) }
    }
  }

  /// The first index of each value.
  var places: [Key: Int] { Dictionary(keys.enumerated().map { ($1, $0) }) { first, _ in first } }

  /// The first few values, for errors.
  var preview: String {
    let shown = keys.prefix(8).map(\.description).joined(separator: ", ")
    return count > 8 ? "\(shown) and \(count - 8) more" : shown
  }

  /// Returns the elements of a value as this column's kind: strings as strings, numbers as numbers.
  func elements(
    _ value: HostValue, of step: some HostOperation, _ position: Int
  ) throws(HostOperationError) -> (keys: [Key], shape: Shape) {
    if case .strings = self {
      let strings = try step.strings(position, value)
      return (strings.strings.map { .string(ExactString($0)) }, strings.shape)
    }
    let tensor = try step.tensor(position, value)
    if case .floats = self { return (tensor.floats.map { Key($0) }, tensor.shape) }
    guard !tensor.type.scalar.isFloatingPoint else {
      let fractions = tensor.doubles.filter { $0.rounded() != $0 || $0.magnitude >= 0x1p63 }
      guard fractions.isEmpty else {
        throw step.refused(
          position, "\(fractions[0]) is not a whole number", remedy: "give one of \(preview)")
      }
      return (tensor.doubles.map { .integer(Int64($0)) }, tensor.shape)
    }
    return (tensor.words.map(Key.integer), tensor.shape)
  }
}
