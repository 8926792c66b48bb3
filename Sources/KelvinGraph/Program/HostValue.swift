import KelvinBasics

/// The value of a function's slot during execution: a tensor, or another kind of value.
///
/// Lists and sequences whose elements have one shape are one tensor with a leading axis. Graphs read and write tensors;
/// other values pass between features and host operations. A feature that is one number or one string has the shape
/// `[1]`.
package enum HostValue: Sendable {
  case tensor(Tensor)
  case strings(StringTensor)
  case dictionary(HostDictionary)
  case table(StringTable)
  /// A sequence of dictionaries, or of values of different kinds or shapes.
  case sequence([HostValue])
  /// An optional input that was omitted.
  case absent

  package var type: HostType {
    switch self {
    case .tensor(let tensor): .tensor(tensor.type)
    case .strings(let strings): .strings(strings.shape)
    case .dictionary(let dictionary): .dictionary(isByString: dictionary.keys.isString)
    case .table: .table
    case .sequence: .sequence
    case .absent: .absent
    }
  }
}

/// A row-major array of strings with a shape.
package struct StringTensor: Sendable, Hashable {
  package let strings: [String]
  package let shape: Shape

  /// Creates the array.
  ///
  /// - Precondition: `shape` has as many elements as there are strings.
  package init(_ strings: [String], _ shape: Shape) {
    precondition(shape.count == strings.count, "\(strings.count) strings for \(shape)")
    self.strings = strings
    self.shape = shape
  }

  package static func == (a: StringTensor, b: StringTensor) -> Bool {
    a.shape == b.shape && a.strings.exact == b.strings.exact
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(shape)
    hasher.combine(strings.exact)
  }
}

/// An ordered dictionary from strings or integers to numbers.
package struct HostDictionary: Sendable, Hashable {
  /// The keys, which are distinct.
  package let keys: Labels
  package let values: [Double]

  /// Creates the dictionary.
  ///
  /// - Precondition: There is one value for each key.
  package init(_ keys: Labels, _ values: [Double]) {
    precondition(keys.count == values.count, "\(values.count) values for \(keys.count) keys")
    self.keys = keys
    self.values = values
  }
}

/// The type of a slot's value, as far as it is known before execution.
package enum HostType: Sendable, Hashable, CustomStringConvertible {
  case tensor(TensorType)
  case strings(Shape)
  case dictionary(isByString: Bool)
  case table
  case sequence
  case absent
  /// A type that is known only during execution.
  case unknown

  package var description: String {
    switch self {
    case .tensor(let type): "a tensor \(type)"
    case .strings(let shape): shape.count == 1 ? "a string" : "strings [\(shape)]"
    case .dictionary(let isByString): "a dictionary by \(isByString ? "string" : "whole numbers")"
    case .table: "a string table"
    case .sequence: "a sequence"
    case .absent: "nothing"
    case .unknown: "a value of a kind that is known when the model runs"
    }
  }
}
