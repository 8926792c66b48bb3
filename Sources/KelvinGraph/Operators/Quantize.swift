/// `y = saturate(roundHalfEven(x / scale) + zeroPoint)`, the quotient rounded to float32 first.
///
/// Inputs: x (floating-point), scale (floating-point), zero point (`scalar`); the last two have the shape that
/// `QuantizationAxis` says. Output: x's shape in `scalar`, an integer type of 8, 16 or 32 bits.
package struct Quantize: Operator {
  package static let name = "quantize"
  package var axis: QuantizationAxis
  package var scalar: ScalarType

  /// - Parameter axis: the axis of x along which scale and zero point vary; nil where there is one of each.
  package init(axis: Int? = nil, blockSize: Int = 1, scalar: ScalarType) {
    self.axis = QuantizationAxis(axis, blockSize: blockSize)
    self.scalar = scalar
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 3...3)
    guard inputs[0].scalar.isFloatingPoint, inputs[1].scalar.isFloatingPoint, scalar.isQuantized,
      inputs[2].scalar == scalar
    else {
      throw OperatorError(
        "expected a floating-point tensor and scale and a zero point of \(scalar.rawValue), got \(inputs)")
    }
    try axis.check(inputs)
    return [TensorType(scalar, inputs[0].shape)]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { 3 * Double(outputs[0].count) }

  package static let schema = AttributeSchema(
    Quantize(scalar: .uint8), .group(\.axis, QuantizationAxis.schema), .required("scalar", \.scalar))
}

/// Which elements of a tensor share a scale and a zero point.
///
/// Without an axis there is one of each, of shape `[]` or `[1]`. With an axis and blocks of one, they have the shape
/// `[x.shape[axis]]`. With larger blocks they have x's shape but for the axis, which has one element for each block.
package struct QuantizationAxis: Hashable, Sendable {
  package var axis: Int?
  package var blockSize: Int

  package init(_ axis: Int?, blockSize: Int = 1) {
    self.axis = axis
    self.blockSize = blockSize
  }

  /// Checks the second and third input against the first.
  func check(_ inputs: [TensorType]) throws(OperatorError) {
    let shape = inputs[0].shape
    for (name, parameter) in [("scale", inputs[1]), ("zero point", inputs[2])] {
      guard let axis else {
        guard parameter.shape.count == 1, parameter.shape.rank <= 1 else {
          throw OperatorError("expected one \(name), got \(parameter)")
        }
        continue
      }
      guard (0..<shape.rank).contains(axis), blockSize > 0 else {
        throw OperatorError("axis \(axis) in blocks of \(blockSize) does not fit \(inputs[0])")
      }
      var expected = [shape[axis]]
      if blockSize > 1 {
        expected = shape.dimensions
        expected[axis] = shape[axis] / blockSize + (shape[axis] % blockSize == 0 ? 0 : 1)
      }
      guard parameter.shape == Shape(expected) else {
        throw OperatorError("\(name): expected \(Shape(expected)) for axis \(axis) of \(inputs[0]), got \(parameter)")
      }
    }
  }

  /// The place of the scale and zero point of each run of elements: x is `[outer, length, inner]`, and element
  /// `(o, i, n)` has the parameters at `o * outerStride + i / block * stride + n * innerStride`.
  package func layout(_ shape: Shape) -> Layout {
    guard let axis else { return Layout(outer: 1, length: 1, inner: shape.count, block: 1) }
    let outer = shape.dimensions[..<axis].reduce(1, *)
    let inner = shape.dimensions[(axis + 1)...].reduce(1, *)
    guard blockSize > 1 else {
      return Layout(outer: outer, length: shape[axis], inner: inner, block: 1, stride: 1)
    }
    let blocks = shape[axis] / blockSize + (shape[axis] % blockSize == 0 ? 0 : 1)
    return Layout(
      outer: outer, length: shape[axis], inner: inner, block: blockSize, outerStride: blocks * inner, stride: inner,
      innerStride: 1)
  }

  package struct Layout: Hashable, Sendable {
    package var outer: Int
    package var length: Int
    package var inner: Int
    package var block: Int
    package var outerStride = 0
    package var stride = 0
    package var innerStride = 0
  }

  static let schema = AttributeSchema(
    QuantizationAxis(nil), .optional("axis", \.axis), .optional("block_size", \.blockSize))
}

extension ScalarType {
  /// Whether values are quantized to this type.
  package var isQuantized: Bool { quantizedRange != nil }

  /// The 8-bit integers.
  package var isByte: Bool { self == .int8 || self == .uint8 }

  /// The values of an integer type of at most 32 bits.
  package var quantizedRange: ClosedRange<Int>? {
    switch self {
    case .int8: -128...127
    case .uint8: 0...255
    case .int16: -32768...32767
    case .uint16: 0...65535
    case .int32: Int(Int32.min)...Int(Int32.max)
    default: nil
    }
  }
}
