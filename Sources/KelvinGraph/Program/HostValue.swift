/// What a slot of a function holds while it runs: a tensor, or what no tensor holds.
///
/// Lists and sequences whose elements have one shape are one tensor with a leading axis. Graphs read and write tensors;
/// the rest passes between features and host steps. A feature that is one number or one text has the shape `[1]`.
package enum HostValue: Sendable {
  case tensor(Tensor)
  case texts(TextTensor)
  case dictionary(HostDictionary)
  case directory(TextDirectory)
  /// Values that differ in kind or shape, or dictionaries, in a row.
  case sequence([HostValue])
  /// An optional input that was left out.
  case absent

  package var type: HostType {
    switch self {
    case .tensor(let tensor): .tensor(tensor.type)
    case .texts(let texts): .texts(texts.shape)
    case .dictionary(let dictionary): .dictionary(isByText: dictionary.keys.isText)
    case .directory: .directory
    case .sequence: .sequence
    case .absent: .absent
    }
  }
}

/// Texts with a shape, row-major.
package struct TextTensor: Sendable, Hashable {
  package let texts: [String]
  package let shape: Shape

  /// - Precondition: `shape` has as many elements as there are texts.
  package init(_ texts: [String], _ shape: Shape) {
    precondition(shape.count == texts.count, "\(texts.count) texts for \(shape)")
    self.texts = texts
    self.shape = shape
  }
}

/// Numbers by text or by whole number, in an order.
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
  case texts(Shape)
  case dictionary(isByText: Bool)
  case directory
  case sequence
  case absent
  /// Known when the function runs.
  case unknown

  package var description: String {
    switch self {
    case .tensor(let type): "a tensor \(type)"
    case .texts(let shape): shape.count == 1 ? "a text" : "texts [\(shape)]"
    case .dictionary(let isByText): "a dictionary by \(isByText ? "text" : "whole numbers")"
    case .directory: "a directory of texts"
    case .sequence: "a sequence"
    case .absent: "nothing"
    case .unknown: "a value of a kind that is known when the model runs"
    }
  }
}
