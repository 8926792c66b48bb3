/// What a slot of a function holds while it runs: a tensor, or what no tensor holds.
///
/// Lists and sequences whose elements have one shape are one tensor with a leading axis. Graphs read and write tensors;
/// the rest passes between features and host steps. A feature that is one number or one string has the shape `[1]`.
package enum HostValue: Sendable {
  case tensor(Tensor)
  case strings(StringTensor)
  case dictionary(HostDictionary)
  case table(StringTable)
  /// Values that differ in kind or shape, or dictionaries, in a row.
  case sequence([HostValue])
  /// An optional input that was left out.
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

/// Strings with a shape, row-major.
package struct StringTensor: Sendable, Hashable {
  package let strings: [String]
  package let shape: Shape

  /// - Precondition: `shape` has as many elements as there are strings.
  package init(_ strings: [String], _ shape: Shape) {
    precondition(shape.count == strings.count, "\(strings.count) strings for \(shape)")
    self.strings = strings
    self.shape = shape
  }
}

/// Numbers by string or by whole number, in an order.
package struct HostDictionary: Sendable, Hashable {
  /// All different.
  package let keys: Labels
  package let values: [Double]

  /// - Precondition: one value for each key.
  package init(_ keys: Labels, _ values: [Double]) {
    precondition(keys.count == values.count, "\(values.count) values for \(keys.count) keys")
    self.keys = keys
    self.values = values
  }
}

/// What is known of a slot's value before there is one.
package enum HostType: Sendable, Hashable, CustomStringConvertible {
  case tensor(TensorType)
  case strings(Shape)
  case dictionary(isByString: Bool)
  case table
  case sequence
  case absent
  /// Known when the function runs.
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
