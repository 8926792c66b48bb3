/// One attribute of an operator, by name.
package struct Attribute: Hashable, Sendable {
  package let name: String
  package let value: AttributeValue

  package init(_ name: String, _ value: AttributeValue) {
    self.name = name
    self.value = value
  }
}

/// What an attribute of an operator may be. Graphs are no attributes: they are regions of nodes.
///
/// Values are equal where their canonical encodings are: numbers bit by bit.
package indirect enum AttributeValue: Sendable {
  case boolean(Bool)
  case integer(Int)
  case float(Float)
  case double(Double)
  /// A case of an enumeration, an element type, or any other text.
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
  /// What the value is, for messages that expected something else.
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
