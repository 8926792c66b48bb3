import KelvinGraph
import Testing

struct QuantizedWeightTests {
  private let shape: Shape = [4, 8]

  private func codes(bits: Int, isSigned: Bool) throws -> Weight {
    let bytes = (0..<UInt8(truncatingIfNeeded: 4 * bits)).map { $0 &* 151 &+ 29 }
    return Weight(try PackedIntegers(Bytes(bytes), bits: bits, isSigned: isSigned, shape: shape))
  }

  private func numbers(_ shape: Shape, of scalar: ScalarType = .float32) -> Weight {
    Weight(Tensor(TensorType(scalar, shape), rounding: (0..<shape.count).map { Double($0 % 7 + 1) / 4 }))
  }

  /// The elements as a device that unpacks them computes them.
  private func unpacked(_ weight: BlockQuantizedWeight) -> [Float] {
    let (rows, columns) = (weight.blocks[0], weight.blocks[1])
    return weight.codes().enumerated().map { index, code in
      let (row, column) = (index / shape[1], index % shape[1])
      let block = row / (shape[0] / rows) * columns + column / (shape[1] / columns)
      return switch weight.meaning {
      case .multiples(let scales, let zero): scales.dense().floats[block] * (Float(code) - zero)
      case .shifted(let scales, let offsets):
        scales.dense().floats[block] * (Float(code) - weight.zeros(of: offsets)[block])
      case .biased(let scales, let biases): scales.dense().floats[block] * Float(code) + biases.dense().floats[block]
      case .entries(let tables, let length): tables.dense().floats[block * length + Int(code)]
      }
    }
  }

  @Test(arguments: 1...8, [true, false]) func quantizedValuesGiveTheDenseElements(_ bits: Int, _ isSigned: Bool) throws
  {
    let codes = try codes(bits: bits, isSigned: isSigned)
    let zeros = Weight(Tensor(TensorType(codes.type.scalar, [4, 2]), rounding: (0..<8).map { Double($0 % 3) }))
    var weights = [
      try Weight(affine: codes, scale: numbers([1, 1])),
      try Weight(affine: codes, scale: numbers([4, 1])),
      try Weight(affine: codes, scale: numbers([4, 2]), offset: zeros),
    ]
    if !isSigned {
      weights.append(try Weight(affine: codes, scale: numbers([2, 1]), bias: numbers([2, 1])))
      weights.append(try Weight(palettized: codes, table: numbers([2, 2, 1 << bits, 1])))
    }
    for weight in weights {
      let blockQuantized = try #require(weight.blockQuantized)
      #expect(unpacked(blockQuantized) == weight.dense().floats)
      #expect(
        [1, 2, 4, 8].contains(blockQuantized.bits) && blockQuantized.bits >= bits
          && blockQuantized.bits < 2 * max(bits, 2))
      let all = blockQuantized.codes()
      #expect(all.allSatisfy { Int($0) < 1 << blockQuantized.bits })
      var part = [UInt8](repeating: 0, count: 11)
      blockQuantized.codeReader().read(13..<24, to: &part)
      #expect(part == Array(all[13..<24]))
    }
  }

  @Test func transposedWeightsKeepTheirBitWidth() throws {
    let codes = try codes(bits: 4, isSigned: true)
    let indices = try self.codes(bits: 4, isSigned: false)
    let weights = [
      try Weight(affine: codes, scale: numbers([4, 2])),
      try Weight(affine: indices, scale: numbers([2, 1]), bias: numbers([2, 1])),
      try Weight(palettized: indices, table: numbers([2, 2, 16, 1])),
    ]
    for weight in weights {
      let turned = weight.transposed([1, 0])
      #expect(turned.dense().floats == weight.dense().transposed([1, 0]).floats)
      #expect(turned.blockQuantized?.bits == 4)
    }
  }

  @Test func otherEncodingsAreNotQuantized() throws {
    let codes = try codes(bits: 4, isSigned: false)
    let vectors = try Weight(palettized: codes, table: numbers([1, 1, 16, 2]), vectorAxis: 1)
    let halves = Weight(Tensor(TensorType(.float32, [1, 1]), rounding: [0.5]))
    let shifted = try Weight(affine: codes, scale: numbers([1, 1]), offset: halves)
    let floats = try Weight(affine: numbers(shape), scale: numbers([1, 1]))
    for weight in [vectors, shifted, floats, numbers(shape), codes] { #expect(weight.blockQuantized == nil) }
  }
}
