/// An elementwise function with up to two parameters. `Unary` uses it, and an `Epilogue` as its activation.
///
/// Every device implements all functions from one table, `dev/elementwise/unary.toml`. `Kind` and the kernels'
/// functions are generated from it. Therefore all functions share one operator.
package struct UnaryFunction: Hashable, Sendable {
  package var kind: Kind
  package var a: Float
  package var b: Float

  package init(_ kind: Kind, a: Float = 0, b: Float = 0) {
    self.kind = kind
    self.a = a
    self.b = b
  }

  package static let relu = UnaryFunction(.relu)
  package static let sigmoid = UnaryFunction(.sigmoid)
  package static let silu = UnaryFunction(.silu)
  package static let hardSwish = UnaryFunction(.hardSwish)
  package static func clip(_ lower: Float, _ upper: Float) -> UnaryFunction { UnaryFunction(.clip, a: lower, b: upper) }

  /// The function's number in kernels and shaders.
  package var code: UInt32 { kind.code }

  /// The number of floating-point operations per element; transcendental functions count as 10.
  package var operations: Double { kind.operations }
}

extension UnaryFunction: CustomStringConvertible {
  package var description: String { attributeValue.description }
}

extension UnaryFunction: AttributeConvertible {
  package static let attributeType = "function"

  /// Parameters that the function does not read are omitted if they are zero.
  package var attributeValue: AttributeValue {
    let set = b.bitPattern != 0 ? 2 : a.bitPattern != 0 ? 1 : 0
    let values = [a, b].prefix(max(kind.parameterCount, set)).map(\.attributeValue)
    return values.isEmpty ? .text(kind.rawValue) : .call(kind.rawValue, values)
  }

  package init(_ value: AttributeValue) throws(OperatorError) {
    let (name, values): (String, [AttributeValue])
    switch value {
    case .text(let text): (name, values) = (text, [])
    case .call(let text, let parameters): (name, values) = (text, parameters)
    default: throw .expected("a function, such as relu or clip(0.0, 6.0)", value)
    }
    guard let kind = Kind(rawValue: name) else { throw OperatorError("'\(name)' is not a function of one element") }
    self.init(kind)
    guard (kind.parameterCount...2).contains(values.count) else {
      throw OperatorError("\(name) takes \(kind.parameterCount) parameters, got \(values.count)")
    }
    if values.count > 0 { a = try Float(values[0]) }
    if values.count > 1 { b = try Float(values[1]) }
  }
}
