import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addQuantize() {
    add(Quantize.self) { op, inputs in
      let range = op.scalar.quantizedRange ?? 0...0
      let indices = op.axis.indices(inputs.shape(0))
      return [
        zip(inputs.values[0], indices).map { value, index in
          let quotient = Double(Float(value / inputs.values[1][index])).rounded(.toNearestOrEven)
          return (quotient.isNaN ? 0 : quotient + inputs.values[2][index]).clamped(to: range)
        }
      ]
    }
  }
}

extension QuantizationAxis {
  /// Returns for each element of a tensor, in row-major order, the index of its scale and zero point.
  func indices(_ shape: Shape) -> [Int] {
    let strides = strides(shape)
    var indices: [Int] = []
    indices.reserveCapacity(shape.count)
    for outer in 0..<strides.outer {
      for index in 0..<strides.length {
        for inner in 0..<strides.inner {
          indices.append(
            outer * strides.outerStride + index / strides.block * strides.stride + inner * strides.innerStride)
        }
      }
    }
    return indices
  }
}

extension Double {
  func clamped(to range: ClosedRange<Int>) -> Double {
    min(max(self, Double(range.lowerBound)), Double(range.upperBound))
  }
}
