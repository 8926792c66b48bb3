/// One attribute of an operator, with its name.
package struct Attribute: Hashable, Sendable {
  package let name: String
  package let value: AttributeValue

  package init(_ name: String, _ value: AttributeValue) {
    self.name = name
    self.value = value
  }
}

/// The value of an operator's attribute. Graphs are not attributes but regions of nodes.
///
/// Values are equal if their canonical encodings are: numbers are compared bit by bit.
package indirect enum AttributeValue: Sendable {
  case boolean(Bool)
  case integer(Int)
  case float(Float)
  case double(Double)
  /// A case of an enumeration, an element type, or any other string.
  case text(String)
  case list([AttributeValue])
  /// A name with at least one parameter: `clip(0.0, 6.0)`.
  case call(String, [AttributeValue])
}

extension AttributeValue: Hashable {
  package static func == (left: AttributeValue, right: AttributeValue) -> Bool { left.canonical == right.canonical }
  package func hash(into hasher: inout Hasher) { hasher.combine(canonical) }
}

extension AttributeValue {
  /// The kind of the value, for error messages.
  var kind: String {
    switch self {
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .float: "a float32"
    case .double: "a float64"
    case .text: "a text"
    case .list: "a list"
    case .call: "a name with parameters"
    }
  }
}
