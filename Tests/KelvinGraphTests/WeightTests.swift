import KelvinGraph
import Synchronization
import Testing

/// The rules of encodings. `CompressedWeightTests` checks the expanded values against coremltools.
@Suite struct WeightTests {
  private func codes(_ shape: Shape, bits: Int = 2) throws -> Weight {
    let bytes = [UInt8](repeating: 0b1110_0100, count: PackedIntegers.byteCount(shape.count, bits: bits))
    return Weight(try PackedIntegers(Bytes(bytes), bits: bits, shape: shape))
  }

  private func zeros(_ scalar: ScalarType, _ shape: Shape) -> Weight {
    Weight(Tensor(TensorType(scalar, shape), Bytes(count: shape.count * scalar.byteCount) { _ in }))
  }

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
    var count: Int { value.load(ordering: .relaxed) }

    /// A weight that is computed from others; each computation is counted.
    func weight(_ count: Int, from sources: [Weight], isLong: Bool = false) -> Weight {
      Weight(TensorType(.float32, [count]), from: sources, isLong: isLong) { [self] in
        value.wrappingAdd(1, ordering: .relaxed)
        let sum = sources.reduce(1) { $0 + $1.dense().floats[0] }
        return Tensor((0..<count).map { Float($0) + sum }, [count])
      }
    }
  }

  @Test func releasedWeightsAreComputedAgain() {
    let (top, middle, larger, long) = (Counter(), Counter(), Counter(), Counter())
    let sources = [long.weight(3, from: [], isLong: true), larger.weight(5, from: [])]
    let weight = top.weight(4, from: [middle.weight(4, from: sources)])
    let first = weight.dense().floats
    #expect(weight.dense().floats == first && top.count == 1)
    weight.release()
    weight.release()
    #expect(weight.dense().floats == first)
    #expect(top.count == 2 && middle.count == 2, "what is not larger was freed")
    #expect(long.count == 1 && larger.count == 1, "long computations and larger sources are kept")
  }

  /// There are 2^60 ways from the last weight to the first.
  @Test func eachSourceIsReleasedOnce() {
    let counter = Counter()
    var weight = counter.weight(2, from: [])
    for _ in 0..<60 {
      let half = weight
      weight = counter.weight(2, from: [half, half])
    }
    let first = weight.dense().floats
    weight.release()
    #expect(weight.dense().floats == first && counter.count == 122)
  }

  @Test(arguments: [0, 9, -1]) func packedIntegersHaveOneToEightBits(bits: Int) {
    #expect(throws: GraphError.self) {
      try PackedIntegers(Bytes([UInt8](repeating: 0, count: 9)), bits: bits, shape: [8])
    }
  }

  @Test func packedIntegersRequireTheExactByteCount() throws {
    for count in [2, 4] {
      #expect(throws: GraphError.self) {
        try PackedIntegers(Bytes([UInt8](repeating: 0, count: count)), bits: 6, shape: [4])
      }
    }
    #expect(throws: GraphError.self) { try PackedIntegers(Bytes([UInt8]()), bits: 1, shape: [1 << 62, 1 << 62]) }
    #expect(throws: GraphError.self) { try PackedIntegers(Bytes([UInt8]()), bits: 1, shape: [-8]) }
    #expect(try PackedIntegers(Bytes([UInt8]()), bits: 3, shape: [0, 5]).unpacked().count == 0)
  }

  @Test func bitsAfterTheLastElementAreIgnored() throws {
    let first = try PackedIntegers(Bytes([UInt8]([0xFF, 0xFF])), bits: 1, shape: [11])
    let last = try PackedIntegers(Bytes([UInt8]([0xFF, 0x1F])), bits: 1, order: .mostSignificantFirst, shape: [11])
    #expect(first.nonzeroCount == 11)
    #expect(last.nonzeroCount == 8)
  }

  @Test func anyRangeUnpacksLikeTheWhole() throws {
    for bits in 1...8 {
      for order in [PackedIntegers.BitOrder.leastSignificantFirst, .mostSignificantFirst] {
        for isSigned in [false, true] {
          let bytes = (0..<PackedIntegers.byteCount(45, bits: bits)).map { _ in UInt8.random(in: 0...255) }
          let integers = try PackedIntegers(Bytes(bytes), bits: bits, isSigned: isSigned, order: order, shape: [45])
          let whole = integers.unpacked().doubles
          // The definition: element i is the bits from i · bits on.
          for (index, value) in whole.enumerated() {
            var number = 0
            for bit in 0..<bits {
              let place = index * bits + bit
              let isFirst = order == .leastSignificantFirst
              let one = Int(bytes[place / 8] >> (isFirst ? place % 8 : 7 - place % 8)) & 1
              number |= one << (isFirst ? bit : bits - 1 - bit)
            }
            if isSigned, number >> (bits - 1) == 1 { number -= 1 << bits }
            #expect(value == Double(number), "\(bytes), \(bits) bits, element \(index)")
          }
          for start in 0..<45 {
            let range = start..<min(45, start + 13)
            var part = [UInt8](repeating: 0, count: range.count)
            part.withUnsafeMutableBufferPointer { buffer in
              guard let base = buffer.baseAddress else { return }
              integers.unpack(range, to: base)
            }
            let numbers = part.map { isSigned ? Double(Int8(bitPattern: $0)) : Double($0) }
            #expect(numbers == Array(whole[range]), "\(bytes), \(bits) bits, \(range)")
          }
        }
      }
    }
  }

  @Test func tablesMustCoverTheIndices() throws {
    let indices = try codes([4, 8])
    #expect(throws: GraphError.self) { try Weight(palettized: indices, table: zeros(.float16, [1, 1, 3, 1])) }
    #expect(throws: GraphError.self) { try Weight(palettized: indices, table: zeros(.float16, [1, 4, 1])) }
    #expect(throws: GraphError.self) { try Weight(palettized: indices, table: zeros(.float16, [3, 1, 4, 1])) }
    #expect(throws: GraphError.self) { try Weight(palettized: indices, table: zeros(.float16, [0, 1, 4, 1])) }
    #expect(throws: GraphError.self) { try Weight(palettized: indices, table: zeros(.float16, [1, 1, 4, 0])) }
    #expect(throws: GraphError.self) { try Weight(palettized: indices, table: zeros(.float16, [1, 1, 4, 2])) }
    #expect(throws: GraphError.self) {
      try Weight(palettized: indices, table: zeros(.float16, [1, 1, 4, 2]), vectorAxis: 2)
    }
    #expect(throws: GraphError.self) {
      try Weight(palettized: zeros(.int8, [4, 8]), table: zeros(.float16, [1, 1, 256, 1]))
    }
    let grown = try Weight(palettized: indices, table: zeros(.float16, [1, 1, 4, 2]), vectorAxis: -2)
    #expect(grown.type.shape == [8, 8])
  }

  @Test func scalesMustDivideTheData() throws {
    let data = zeros(.int8, [4, 6])
    for shape: Shape in [[4], [3, 1], [1, 4], [0, 1], [8, 1]] {
      #expect(throws: GraphError.self) { try Weight(affine: data, scale: zeros(.float16, shape)) }
    }
    #expect(throws: GraphError.self) { try Weight(affine: data, scale: zeros(.int8, [1, 1])) }
    #expect(throws: GraphError.self) {
      try Weight(affine: data, scale: zeros(.float16, [4, 1]), offset: zeros(.int8, [1, 1]))
    }
    #expect(throws: GraphError.self) { try Weight(affine: zeros(.int64, [4]), scale: zeros(.float32, [1])) }
  }

  @Test func masksMustSelectTheStoredCount() throws {
    let mask = Weight(try PackedIntegers(Bytes([UInt8]([0b101])), bits: 1, shape: [3]))
    #expect(throws: GraphError.self) { try Weight(sparse: zeros(.float16, [1]), mask: mask) }
    #expect(throws: GraphError.self) { try Weight(sparse: zeros(.float16, [3]), mask: mask) }
    #expect(throws: GraphError.self) { try Weight(sparse: zeros(.float16, [2, 1]), mask: mask) }
    #expect(throws: GraphError.self) { try zeros(.float16, [4]).selected(by: mask) }
    let ones = Weight(Tensor([Float(1), 2], [2]))
    #expect(try Weight(sparse: ones, mask: mask).dense().floats == [1, 0, 2])
    #expect(try Weight(sparse: ones, mask: mask).selected(by: mask).dense().floats == [1, 2])
  }

  @Test func expandedSizeIsBounded() throws {
    let indices = try codes([1 << 20], bits: 1)
    #expect(throws: GraphError.self) {
      try Weight(palettized: indices, table: zeros(.float32, [1, 2, 1 << 16]), vectorAxis: 0)
    }
    var weight = zeros(.float32, [1 << 14])
    #expect(throws: GraphError.self) {
      for _ in 0..<16 { weight = try Weight(affine: weight, scale: weight, offset: weight) }
    }
    weight = zeros(.float32, [1])
    #expect(throws: GraphError.self) {
      for _ in 0..<100 { weight = try Weight(affine: weight, scale: zeros(.float32, [1])) }
    }
  }

  @Test func reshapingKeepsAnEncoding() throws {
    let table = Weight(Tensor([Float(1), 2, 3, 4], [1, 1, 4, 1]))
    let palettized = try Weight(palettized: codes([4, 6]), table: table)
    let scaled = try Weight(
      affine: codes([4, 6]), scale: Weight(Tensor([Float(2)], [1, 1])), offset: zeros(.uint8, [1, 1]))
    for weight in [try codes([4, 6]), palettized, scaled] {
      let reshaped = weight.reshaped(to: [2, 3, 4])
      #expect(reshaped.storedByteCount == weight.storedByteCount && reshaped.isCompressed)
      #expect(reshaped.type.shape == [2, 3, 4] && reshaped.dense().doubles == weight.dense().doubles)
      if case .deferred = reshaped.encoding { Issue.record("\(weight.encoding) is expanded") }
    }
    let grouped = try Weight(
      affine: codes([4, 6]), scale: Weight(Tensor([Float(1), 2, 3, 4], [4, 1]))
    )
    #expect(grouped.reshaped(to: [24]).dense().doubles == grouped.dense().doubles)
    #expect(grouped.reshaped(to: [24]).isCompressed)
  }

  @Test func roundingToBinary16AgreesForFloatAndDouble() {
    for high in 0...UInt32(0xFFFF) {
      for low: UInt32 in [0, 1, 0xFFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x7FFF, 0xFFFF] {
        let value = Float(bitPattern: high << 16 | low)
        if value.halfBits != Double(value).halfBits { Issue.record("\(value)") }
      }
    }
  }

  @Test func weightsComputedFromCompressedOnesAreCompressed() throws {
    let weight = try codes([8])
    let computed = Weight(TensorType(.uint8, [8]), from: [weight]) { weight.dense() }
    #expect(computed.isCompressed && computed.storedByteCount == 2)
    #expect(!Weight(TensorType(.uint8, [8])) { weight.dense() }.isCompressed)
  }
}
