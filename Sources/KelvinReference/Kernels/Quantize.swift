import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addQuantize() {
    add(Quantize.self) { op, inputs in
      let range = op.scalar.quantizedRange ?? 0...0
      let places = op.axis.places(inputs.shape(0))
      return [
        zip(inputs.values[0], places).map { value, place in
          let quotient = Double(Float(value / inputs.values[1][place])).rounded(.toNearestOrEven)
          return (quotient.isNaN ? 0 : quotient + inputs.values[2][place]).clamped(to: range)
        }
      ]
    }
  }
}

extension QuantizationAxis {
  /// Returns for each element of a tensor, in row-major order, the index of its scale and zero point.
  func places(_ shape: Shape) -> [Int] {
    let strides = strides(shape)
    var places: [Int] = []
    places.reserveCapacity(shape.count)
    for outer in 0..<strides.outer {
      for index in 0..<strides.length {
        for inner in 0..<strides.inner {
          places.append(
            outer * strides.outerStride + index / strides.block * strides.stride + inner * strides.innerStride)
        }
      }
    }
    return places
  }
}

extension Double {
  func clamped(to range: ClosedRange<Int>) -> Double {
    min(max(self, Double(range.lowerBound)), Double(range.upperBound))
  }
}
