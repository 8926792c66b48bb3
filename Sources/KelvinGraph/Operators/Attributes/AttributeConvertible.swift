/// A type whose values convert to attribute values and back without loss.
package protocol AttributeConvertible: Sendable {
  /// The type's name in documentation.
  static var attributeType: String { get }

  var attributeValue: AttributeValue { get }

  /// Creates the value.
  ///
  /// - Throws: An error that states the expected and the given value.
  init(_ value: AttributeValue) throws(OperatorError)
}

extension OperatorError {
  static func expected(_ expected: String, _ value: AttributeValue) -> OperatorError {
    OperatorError("expected \(expected), got \(value.kind): \(value)")
  }
}

extension Bool: AttributeConvertible {
  package static let attributeType = "boolean"
  package var attributeValue: AttributeValue { .boolean(self) }
  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .boolean(let value) = value else { throw .expected("true or false", value) }
    self = value
  }
}

extension Int: AttributeConvertible {
  package static let attributeType = "integer"
  package var attributeValue: AttributeValue { .integer(self) }
  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .integer(let value) = value else { throw .expected("an integer", value) }
    self = value
  }
}

extension Float: AttributeConvertible {
  package static let attributeType = "float32"
  package var attributeValue: AttributeValue { .float(self) }
  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .float(let value) = value else { throw .expected("a float32, such as 1.0", value) }
    self = value
  }
}

extension Double: AttributeConvertible {
  package static let attributeType = "float64"
  package var attributeValue: AttributeValue { .double(self) }
  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .double(let value) = value else { throw .expected("a float64, such as 1.0f64", value) }
    self = value
  }
}

extension String: AttributeConvertible {
  package static let attributeType = "string"
  package var attributeValue: AttributeValue { .text(self) }
  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .text(let value) = value else { throw .expected("a text", value) }
    self = value
  }
}

extension Array: AttributeConvertible where Element: AttributeConvertible {
  package static var attributeType: String { "\(Element.attributeType) list" }
  package var attributeValue: AttributeValue { .list(map(\.attributeValue)) }
  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .list(let values) = value else { throw .expected("a list", value) }
    self = try values.map { value throws(OperatorError) in try Element(value) }
  }
}

extension Shape: AttributeConvertible {
  package static let attributeType = "shape"
  package var attributeValue: AttributeValue { dimensions.attributeValue }
  package init(_ value: AttributeValue) throws(OperatorError) { self.init(try [Int](value)) }
}

extension ScalarType: AttributeConvertible {
  package static let attributeType = "element type"
}

/// `float32(1, 3, 224, 224)`; a name alone for a scalar.
extension TensorType: AttributeConvertible {
  package static let attributeType = "tensor type"

  package var attributeValue: AttributeValue {
    shape.rank == 0 ? scalar.attributeValue : .call(scalar.rawValue, shape.dimensions.map(\.attributeValue))
  }

  package init(_ value: AttributeValue) throws(OperatorError) {
    switch value {
    case .text: self.init(try ScalarType(value), [])
    case .call(let name, let sizes): self.init(try ScalarType(.text(name)), try Shape(.list(sizes)))
    default: throw .expected("a tensor type, such as float32(1, 3)", value)
    }
  }
}

/// An enumeration of strings conforms by declaring the conformance.
extension AttributeConvertible where Self: RawRepresentable & CaseIterable, RawValue == String {
  package static var attributeType: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }
  package var attributeValue: AttributeValue { .text(rawValue) }
  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .text(let text) = value else { throw .expected("a name", value) }
    guard let known = Self(rawValue: text) else {
      throw OperatorError("expected one of \(Self.allCases.map(\.rawValue).joined(separator: ", ")), got '\(text)'")
    }
    self = known
  }
}
