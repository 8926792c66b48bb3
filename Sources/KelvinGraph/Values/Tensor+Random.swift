package import KelvinBasics

extension Tensor {
  /// Uniform numbers in a range.
  package static func random(
    _ scalar: ScalarType, _ shape: Shape, _ range: ClosedRange<Float>, _ random: inout SeededGenerator
  ) -> Tensor {
    let (middle, half) = ((range.lowerBound + range.upperBound) / 2, (range.upperBound - range.lowerBound) / 2)
    let values = (0..<shape.count).map { _ in Double(middle + half * random.signedUnit()) }
    return Tensor(TensorType(scalar, shape), rounding: values)
  }
}
