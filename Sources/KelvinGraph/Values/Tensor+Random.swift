package import KelvinBasics

extension Tensor {
  /// Returns uniform random numbers in a range.
  package static func random(
    _ scalar: ScalarType, _ shape: Shape, _ range: ClosedRange<Float>, _ random: inout SeededGenerator
  ) -> Tensor {
    let (middle, half) = ((range.lowerBound + range.upperBound) / 2, (range.upperBound - range.lowerBound) / 2)
    return Tensor(TensorType(scalar, shape)) { _ in Double(middle + half * random.signedUnit()) }
  }

  /// Creates a tensor of rounded values, computed in element order, without an intermediate list in float64.
  package init(_ type: TensorType, each value: (Int) -> Double) {
    self.init(
      type,
      Bytes(count: type.byteCount) { raw in
        for start in stride(from: 0, to: type.count, by: Self.block) {
          let values = (start..<min(start + Self.block, type.count)).map(value)
          Tensor.store(
            values, as: type.scalar,
            in: UnsafeMutableRawBufferPointer(rebasing: raw[(start * type.scalar.byteCount)...]))
        }
      })
  }

  private static let block = 4096
}
