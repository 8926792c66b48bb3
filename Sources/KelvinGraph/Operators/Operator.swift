/// What a graph node computes: attributes and rules, never an implementation.
///
/// Inputs are counted in the order that each operator documents. Types are concrete: a graph with dynamic sizes is built
/// anew for the sizes of an input (`GraphSource`), so that no rule has to reason about symbols.
package protocol Operator: Hashable, Sendable {
  /// The one spelling of the operator: file, shader and kernel names use it too.
  static var name: String { get }

  /// The types of the outputs.
  ///
  /// - Throws: `OperatorError` saying what was expected and what was given.
  func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType]

  /// Floating-point operations that one evaluation takes; a multiply-add counts as two.
  func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double

  /// The error a device may make relative to the reference device, which accumulates in float64 and rounds once.
  func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance

  /// Whether an evaluation does nothing but compute results from operands, the same from the same. A node of any other
  /// operator is never folded, merged, dropped or moved across another such.
  var isPure: Bool { get }

  /// The axes of its one result along which it can be computed in parts; none where an element of it depends on all of
  /// the operands, or where nobody has said.
  func partAxes(_ inputs: [TensorType], _ output: TensorType) -> [PartAxis]

  /// The attributes, each said once, from which they are written and read: two operators with the same name and
  /// attributes are the same.
  static var schema: AttributeSchema<Self> { get }
}

extension Operator {
  package var name: String { Self.name }

  /// Names and values, those at their defaults left out.
  package var attributes: [Attribute] { Self.schema.write(self) }

  /// The operator with these attributes; those left out are at their defaults.
  ///
  /// - Throws: `OperatorError` where one is missing, unknown, given twice or of another kind.
  package init(attributes: [Attribute]) throws(OperatorError) { self = try Self.schema.make(attributes) }

  package var isPure: Bool { true }
  package func partAxes(_ inputs: [TensorType], _ output: TensorType) -> [PartAxis] { [] }
  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 0 }
  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance { .exact }
}

/// Why an operator cannot take its inputs.
package struct OperatorError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }

  /// Throws unless the number of inputs is one that the operator takes.
  package static func require(_ inputs: [TensorType], _ counts: ClosedRange<Int>) throws(OperatorError) {
    guard counts.contains(inputs.count) else {
      let expected = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
      throw OperatorError("takes \(expected) inputs, got \(inputs.count)")
    }
  }
}

/// How exactly a model is computed. DESIGN: "Numerics".
package enum Precision: String, Hashable, Sendable, Codable, CaseIterable {
  /// `.full` where activations are float32; where they are float16, at least as good as float16 arithmetic with float32
  /// accumulation.
  case automatic
  /// Error against float64 at most twice that of a float32 GEMM on the same data.
  case full
  /// At least 16 significand bits in products, float32 accumulation.
  case high
  /// Operands and values in memory may be rounded to bfloat16 or float16; accumulation is float32.
  case low

  /// Half the spacing of numbers just above one, for operands of this precision and values of `scalar`.
  package func unitRoundoff(_ scalar: ScalarType) -> Double {
    switch (self, scalar) {
    case (.low, _): 0x1p-8
    case (_, .float16): 0x1p-11
    case (.high, _): 0x1p-16
    default: 0x1p-24
    }
  }
}

/// How far a result may lie from the reference: `|x - r| <= relative * |r| + absolute * max|r|`, the maximum taken over
/// the output tensor. `.exact` allows none.
package struct Tolerance: Hashable, Sendable {
  package var relative: Double
  package var absolute: Double

  package init(relative: Double, absolute: Double) {
    self.relative = relative
    self.absolute = absolute
  }

  package static let exact = Tolerance(relative: 0, absolute: 0)

  /// A few roundings of each element on its own.
  package static func elementwise(_ precision: Precision, _ scalar: ScalarType, roundings: Double = 8) -> Tolerance {
    guard scalar.isFloatingPoint else { return .exact }
    let unit = precision.unitRoundoff(scalar)
    return Tolerance(relative: roundings * unit, absolute: unit)
  }

  /// A sum of `length` products whose rounding errors are independent: they grow with the square root of the length,
  /// and cancellation can leave a result much smaller than its terms.
  package static func accumulation(_ precision: Precision, _ scalar: ScalarType, length: Int) -> Tolerance {
    guard scalar.isFloatingPoint else { return .exact }
    let unit = precision.unitRoundoff(scalar)
    return Tolerance(relative: 8 * unit, absolute: (4 + 2 * Double(max(length, 1)).squareRoot()) * unit)
  }
}
