/// Samples x on a grid of another size along some axes.
package struct Resize: Operator {
  /// The rounding of a source coordinate to an integer position.
  package enum Rounding: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
    case floor, ceil
    /// The nearest position, with ties to the lower one.
    case halfDown = "half_down"
    /// The nearest position, with ties to the upper one.
    case halfUp = "half_up"
  }

  package enum Interpolation: Hashable, Sendable {
    case linear
    case nearest(Rounding)
  }

  package static let name = "resize"
  package var axes: [ResizeAxis]
  package var interpolation: Interpolation

  package init(axes: [ResizeAxis], interpolation: Interpolation) {
    self.axes = axes
    self.interpolation = interpolation
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let x = inputs[0]
    guard x.scalar.isFloatingPoint || interpolation != .linear else {
      throw OperatorError("linear interpolation takes a floating-point tensor, got \(x)")
    }
    let places = axes.map(\.axis)
    guard places == Array(Set(places)).sorted(), places.allSatisfy({ (0..<x.shape.rank).contains($0) }) else {
      throw OperatorError("axes \(places) are not ascending axes of \(x)")
    }
    var shape = x.shape
    for axis in axes {
      guard (0..<(1 << 31)).contains(axis.size), axis.scale.isFinite, axis.offset.isFinite else {
        throw OperatorError(
          "axis \(axis.axis): expected a size below 2^31, a finite scale and a finite offset, got \(axis.size), "
            + "\(axis.scale) and \(axis.offset)")
      }
      guard x.shape[axis.axis] > 0 || axis.size == 0 else { throw OperatorError("axis \(axis.axis) of \(x) is empty") }
      shape[axis.axis] = axis.size
    }
    guard shape.isAddressable else { throw OperatorError("the resized shape \(shape) is too large") }
    return [TensorType(x.scalar, shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    guard interpolation == .linear else { return 0 }
    return Double(outputs[0].count) * 3 * (Double(sign: .plus, exponent: axes.count, significand: 1) - 1)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    guard interpolation == .linear else { return .exact }
    return .accumulation(precision, inputs[0].scalar, length: 1 << min(axes.count, 8))
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    sameAxes(output) { axis in axes.contains { $0.axis == axis } }
  }

  package static let summary = OperatorSummary(
    formula: "y[i] = x[clamp(scale · i + offset, 0, n - 1)], along each axis",
    notes: """
      A nearest coordinate is rounded by `floor`, `ceil`, `half_down` or `half_up`; the last two take the nearest \
      position, with ties to the lower or upper one. Linear interpolation is separable: it is applied along each axis \
      in turn.
      """,
    inputs: [("x", "any type; floating-point for linear interpolation")],
    outputs: [("y", "x's shape with the sizes of `axes`, x's element type")])

  package static let schema = AttributeSchema(
    Resize(axes: [], interpolation: .linear),
    .required(
      "axes", \.axes, "the axes, ascending and distinct, each with its number of output positions, scale and offset"),
    .required("interpolation", \.interpolation, "the value between positions"))
}

extension Resize.Interpolation: AttributeConvertible {
  package static let attributeType = "`linear`, `nearest(rounding)`"

  package var attributeValue: AttributeValue {
    switch self {
    case .linear: .text("linear")
    case .nearest(let rounding): .call("nearest", [rounding.attributeValue])
    }
  }

  package init(_ value: AttributeValue) throws(OperatorError) {
    switch value {
    case .text("linear"): self = .linear
    case .call("nearest", let values) where values.count == 1: self = .nearest(try Resize.Rounding(values[0]))
    default: throw .expected("linear or nearest(…)", value)
    }
  }
}
