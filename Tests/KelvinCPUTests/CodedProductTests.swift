import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Products and gathers whose weights stay codes, on every instruction set.
@Suite struct CodedProductTests {
  enum Meaning: CaseIterable { case scales, zeros, biases, tables }

  /// A weight of random codes.
  ///
  /// - Parameters:
  ///   - outputs: the rows that share a scale, zero point, bias or table.
  ///   - block: the elements of a row that share them.
  private func weight(
    _ shape: Shape, bits: Int, isSigned: Bool, _ meaning: Meaning, outputs: Int, block: Int,
    _ random: inout SeededGenerator
  ) throws -> Weight {
    let byteCount = PackedIntegers.byteCount(shape.count, bits: bits)
    let bytes = Bytes((0..<byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    let codes = Weight(try PackedIntegers(bytes, bits: bits, isSigned: isSigned, shape: shape))
    let blocks: Shape = [shape[0] / outputs, shape[1] / block]
    func numbers(_ shape: Shape) -> Weight {
      Weight(Tensor((0..<shape.count).map { _ in random.signedUnit() }, shape))
    }
    switch meaning {
    case .scales: return try Weight(affine: codes, scale: numbers(blocks))
    case .zeros:
      let zeros = (0..<blocks.count).map { _ in Double(random.index(below: 1 << (bits - 1))) }
      let offset = Weight(Tensor(TensorType(codes.type.scalar, blocks), rounding: zeros))
      return try Weight(affine: codes, scale: numbers(blocks), offset: offset)
    case .biases: return try Weight(affine: codes, scale: numbers(blocks), bias: numbers(blocks))
    case .tables: return try Weight(palettized: codes, table: numbers(Shape(blocks.dimensions + [1 << bits, 1])))
    }
  }

  private func expectAgreement(
    _ graph: Graph, _ inputs: [Tensor], precision: Precision = .full, threads: Int, _ place: String
  ) throws {
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0]
    let types = graph.types(graph.nodes[0].inputs)
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      for tiles in precision == .low ? [false, true] : [false] {
        let device = CPUDevice(variant: variant, emulatesTiles: tiles)
        let actual = try device.run(graph, inputs, precision: precision, threads: threads).outputs[0]
        let reached = device.effectivePrecision(precision, of: graph.nodes[0], in: graph)
        let tolerance = graph.nodes[0].op.tolerance(reached, types)
        let difference = NodeExample.difference(of: actual.doubles, from: expected.doubles, tolerance)
        #expect(difference == nil, "\(name) at \(precision), tiles \(tiles): \(place)")
      }
    }
  }

  @Test(arguments: Tier.seeds(40, of: 400)) func productsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let meaning = Meaning.allCases.randomElement(using: &random) ?? .scales
    let bits = meaning == .tables ? pick([1, 2, 3, 4, 5]) : pick([1, 2, 3, 4, 4, 4, 6, 8, 8])
    let isSigned = meaning == .scales || meaning == .zeros ? pick([0, 1]) == 1 : false
    let block = pick([4, 16, 20, 32, 41, 64, 128])
    let outputs = meaning == .tables ? pick([1, 16, 32]) : pick([1, 1, 3])
    let shape: Shape = [outputs * pick([1, 2, 3, 17, 35]), block * pick([1, 1, 2, 5])]
    let rows = pick([1, 1, 2, 3, 4, 5, 8, 17])
    let weight = try weight(
      shape, bits: bits, isSigned: isSigned, meaning, outputs: outputs, block: block, &random)
    let bias = Tensor((0..<shape[0]).map { _ in random.signedUnit() }, [shape[0]])
    let x = Tensor((0..<rows * shape[1]).map { _ in random.signedUnit() }, [rows, shape[1]])
    let graph = try oneNode(
      Linear(epilogue: Epilogue(hasBias: true, activation: pick([0, 1]) == 1 ? .relu : nil)),
      [(x.type, nil), (weight.type, weight), (bias.type, Weight(bias))])
    let place = "\(bits) bits, signed \(isSigned), \(meaning) for \(outputs) x \(block), \(rows) rows of \(shape)"
    for precision in [Precision.full, .low] {
      try expectAgreement(graph, [x], precision: precision, threads: pick([1, 2]), place)
    }
  }

  /// The sum of products without their scale exceeds the largest float32; the result does not.
  @Test func intermediateSumsMayExceedFloat32() throws {
    var random = SeededGenerator(seed: 1)
    let weight = try Weight(
      affine: weight([19, 64], bits: 8, isSigned: true, .scales, outputs: 1, block: 64, &random).codes,
      scale: Weight(Tensor([Float](repeating: 1e-4, count: 19), [19, 1])))
    func isNear(_ got: Float, _ wanted: Float) -> Bool { abs(got - wanted) <= abs(wanted) / 1e5 + 0x1p-147 }
    for value in [Float.greatestFiniteMagnitude, .infinity, .nan, 0x1p-140] {
      let x = Tensor((0..<64).map { $0 == 7 ? value : 0 }, [1, 64])
      let graph = try oneNode(Linear(), [(x.type, nil), (weight.type, weight)])
      let expected = try ReferenceDevice().run(graph, [x]).outputs[0].floats
      for variant in CPUDevice.variantNames.indices {
        let actual = try CPUDevice(variant: variant).run(graph, [x]).outputs[0].floats
        for (got, wanted) in zip(actual, expected) {
          #expect(got == wanted || got.isNaN && wanted.isNaN || isNear(got, wanted), "of \(value)")
        }
      }
    }
  }

  @Test func gathersAreExactAndCheckIndices() throws {
    var random = SeededGenerator(seed: 2)
    for (bits, meaning) in [(4, Meaning.scales), (8, .zeros), (2, .zeros), (4, .tables), (4, .biases)] {
      let weight = try weight(
        [33, 64], bits: bits, isSigned: false, meaning, outputs: meaning == .tables ? 33 : 1, block: 32, &random)
      for scalar in [ScalarType.int64, .int32] {
        let indices = Tensor(TensorType(scalar, [2, 3]), rounding: [3, -1, 0, 32, -33, 7])
        let graph = try oneNode(Gather(axis: 0), [(weight.type, weight), (indices.type, nil)])
        let expected = try ReferenceDevice().run(graph, [indices]).outputs[0].floats
        for variant in CPUDevice.variantNames.indices {
          #expect(try CPUDevice(variant: variant).run(graph, [indices]).outputs[0].floats == expected)
        }
        let outside = Tensor(TensorType(scalar, [2, 3]), rounding: [3, -1, 0, 33, -33, 7])
        #expect(throws: DeviceError.self) { try CPUDevice().run(graph, [outside]) }
      }
    }
  }

  /// The store keeps what the segment packs: codes, scales and zero points, and no float32 copy.
  @Test(arguments: [1, 4, 5, 64], [Meaning.scales, .zeros, .tables])
  func packedCodesTakeTheBytesOfTheModel(rows: Int, meaning: Meaning) throws {
    // Vectors of four elements have no kernel for tables.
    guard meaning != .tables || CPUDevice.variantNames.contains("avx2") else { return }
    var random = SeededGenerator(seed: 3)
    let weight = try weight([256, 1024], bits: 4, isSigned: false, meaning, outputs: 16, block: 32, &random)
    let graph = try oneNode(Linear(), [(TensorType(.float32, [rows, 1024]), nil), (weight.type, weight)])
    let picked = try oneNode(Gather(axis: 0), [(weight.type, weight), (TensorType(.int64, [2]), nil)])
    let device = CPUDevice()
    for graph in [graph, picked] {
      let store = MemoryPackedWeights()
      let executable = try device.compile(
        Segment(
          graph: graph, precision: .full, threads: 2, isDeterministic: true, weights: store, blobs: NoBlobCache()))
      withExtendedLifetime(executable) {
        // Each column of a block has a scale and perhaps a zero point, and 16 columns share a table of 16 entries.
        #expect(store.footprint.byteCount == 256 * 1024 / 2 + (meaning == .zeros ? 2 : 1) * 4 * 256 * 32)
      }
    }
  }

  @Test func estimatesCountTheBytesOfCodes() throws {
    var random = SeededGenerator(seed: 4)
    let weight = try weight([256, 1024], bits: 4, isSigned: false, .scales, outputs: 1, block: 32, &random)
    let graph = try oneNode(Linear(), [(TensorType(.float32, [1, 1024]), nil), (weight.type, weight)])
    let bytes = CPUDevice().work(of: graph.nodes[0], in: graph).bytes
    #expect(bytes == Double(256 * 1024 / 2 + 4 * 256 * 32 + 4 * 1024 + 4 * 256))
  }
}

extension Weight {
  /// The integers of a linearly quantized weight.
  fileprivate var codes: Weight { parts[0] }
}
