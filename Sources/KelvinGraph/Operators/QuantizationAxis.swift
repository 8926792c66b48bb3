/// The elements of a tensor that share a scale and a zero point.
///
/// Without an axis there is one scale and one zero point, of shape `[]` or `[1]`. With an axis and blocks of one
/// element, they have the shape `[x.shape[axis]]`. With larger blocks they have x's shape, except that the axis has one
/// element for each block.
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

  /// Returns the axes of an operator on x, scale and zero point: all, except one that blocks divide.
  func splitAxes(of op: any Operator, _ output: TensorType) -> [SplitAxis] {
    output.shape.dimensions.indices.filter { blockSize == 1 || $0 != axis }.map { place in
      let parameter = axis == nil ? nil : blockSize > 1 ? place : place == axis ? 0 : nil
      return SplitAxis(place, op, [place, parameter, parameter])
    }
  }

  /// Returns the layout of scales and zero points: x is `[outer, length, inner]`, and element `(o, i, n)` has the
  /// parameters at `o * outerStride + i / block * stride + n * innerStride`.
  package func strides(_ shape: Shape) -> Strides {
    guard let axis else { return Strides(outer: 1, length: 1, inner: shape.count, block: 1) }
    let (outer, length, inner) = shape.around(axis)
    guard blockSize > 1 else { return Strides(outer: outer, length: length, inner: inner, block: 1, stride: 1) }
    let blocks = length / blockSize + (length % blockSize == 0 ? 0 : 1)
    return Strides(
      outer: outer, length: length, inner: inner, block: blockSize, outerStride: blocks * inner, stride: inner,
      innerStride: 1)
  }

  /// A tensor as `[outer, length, inner]`, and the strides of its parameters; a stride of 0 repeats them.
  package struct Strides: Hashable, Sendable {
    package var outer: Int
    package var length: Int
    package var inner: Int
    package var block: Int
    package var outerStride = 0
    package var stride = 0
    package var innerStride = 0
  }

  static let schema = AttributeSchema(
    QuantizationAxis(nil),
    .optional(
      "axis", \.axis,
      "the axis of x along which scale and zero point vary; without one there is a single scale and zero point"),
    .optional(
      "block_size", \.blockSize,
      "number of elements of the axis that share a scale; above 1 the scale has x's rank"
    ))
}
