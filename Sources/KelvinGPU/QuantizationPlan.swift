package import KelvinGraph

/// Where the scale and zero point of each element of a dense tensor `[outer, length, inner]` lie.
package struct QuantizationPlan: Sendable {
  package let strides: QuantizationAxis.Strides
  package let count: Int
  /// The integers' type.
  package let scalar: ScalarType

  init(_ axis: QuantizationAxis, _ shape: Shape, _ scalar: ScalarType) {
    strides = axis.strides(shape)
    count = shape.count
    self.scalar = scalar
  }
}
