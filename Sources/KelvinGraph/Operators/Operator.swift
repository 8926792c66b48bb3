/// The computation of a graph node: attributes and rules, without an implementation.
///
/// Inputs are numbered in the order that each operator documents. Types are concrete: a graph with dynamic sizes is
/// built separately for each set of input sizes (`GraphSource`), so that no rule handles symbolic sizes.
package protocol Operator: Hashable, Sendable {
  /// The operator's unique name; file, shader and kernel names contain it.
  static var name: String { get }

  /// Returns the types of the outputs.
  ///
  /// - Throws: `OperatorError` that states the expected and the given types.
  func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType]

  /// Returns the number of floating-point operations of one evaluation; a multiply-add counts as two.
  func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double

  /// Returns the allowed error of a device relative to the reference device, which accumulates in float64 and rounds
  /// once.
  func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance

  /// Whether an evaluation only computes results from operands, and always the same. A node of an impure operator is
  /// never folded, merged, removed or moved across another such node.
  var isPure: Bool { get }

  /// Returns the axes of the operator's one result along which parts can be computed. Empty if an element depends on
  /// all operands, or if the operator does not declare such axes.
  func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis]

  /// The definition: the formula, the inputs and the outputs.
  static var summary: OperatorSummary { get }

  /// The attributes, from which writing and reading are derived. Two operators with the same name and attributes are
  /// equal.
  static var schema: AttributeSchema<Self> { get }
}

extension Operator {
  package var name: String { Self.name }

  /// The names and values of attributes, without those at their defaults.
  package var attributes: [Attribute] { Self.schema.write(self) }

  /// Creates the operator from attributes; omitted ones have their defaults.
  ///
  /// - Throws: `OperatorError` if an attribute is missing, unknown, duplicated or of another kind.
  package init(attributes: [Attribute]) throws(OperatorError) { self = try Self.schema.make(attributes) }

  package var isPure: Bool { true }
  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] { [] }
  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 0 }
  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance { .exact }
}

/// An error about inputs that an operator does not support.
package struct OperatorError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }

  /// Throws an error unless the operator supports the number of inputs.
  package static func require(_ inputs: [TensorType], _ counts: ClosedRange<Int>) throws(OperatorError) {
    guard counts.contains(inputs.count) else {
      let expected = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
      throw OperatorError("takes \(expected) inputs, got \(inputs.count)")
    }
  }
}

/// The numerical precision of a model's execution.
package enum Precision: String, Hashable, Sendable, Codable, CaseIterable {
  /// `.full` if activations are float32. If they are float16, at least as accurate as float16 arithmetic with float32
  /// accumulation.
  case automatic
  /// Error against float64 at most twice that of a float32 GEMM on the same data.
  case full
  /// At least 16 significand bits in products, float32 accumulation.
  case high
  /// Operands and values in memory may be rounded to bfloat16 or float16; accumulation is float32, but for runs of at
  /// most 16 products in float16.
  case low

  /// Returns half the spacing of numbers just above one, for operands of this precision and values of `scalar`.
  package func unitRoundoff(_ scalar: ScalarType) -> Double {
    switch (self, scalar) {
    case (.low, _): 0x1p-8
    case (_, .float16): 0x1p-11
    case (.high, _): 0x1p-16
    default: 0x1p-24
    }
  }
}

/// The allowed difference of a result from the reference: `|x - r| <= relative * |r| + absolute * max|r|`, with the
/// maximum over the output tensor. `.exact` allows none.
package struct Tolerance: Hashable, Sendable {
  package var relative: Double
  package var absolute: Double

  package init(relative: Double, absolute: Double) {
    self.relative = relative
    self.absolute = absolute
  }

  package static let exact = Tolerance(relative: 0, absolute: 0)

  /// Returns the tolerance of a few independent roundings of each element.
  package static func elementwise(_ precision: Precision, _ scalar: ScalarType, roundings: Double = 8) -> Tolerance {
    guard scalar.isFloatingPoint else { return .exact }
    let unit = precision.unitRoundoff(scalar)
    return Tolerance(relative: roundings * unit, absolute: unit)
  }

  /// Returns the tolerance of a sum of `length` products with independent rounding errors. They grow with the square
  /// root of the length, and cancellation can make a result much smaller than its terms.
  package static func accumulation(_ precision: Precision, _ scalar: ScalarType, length: Int) -> Tolerance {
    guard scalar.isFloatingPoint else { return .exact }
    let unit = precision.unitRoundoff(scalar)
    return Tolerance(relative: 8 * unit, absolute: (4 + 2 * Double(max(length, 1)).squareRoot()) * unit)
  }
}
