import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinDevices
import KelvinGraph
import KelvinReference
import Synchronization
import TestSupport
import Testing

/// Constants that a segment reads in the model's file, and weights that are packed from the layout in the file.
@Suite struct StoredConstantTests {
  /// Records which layouts a segment asks for.
  private final class RecordingWeights: PackedWeights {
    private let recorded = Mutex<[String]>([])
    var keys: [String] { recorded.withLock { $0 } }

    func packed(
      _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Bytes {
      recorded.withLock { $0.append(key) }
      return try PoisonedMemory.bytes(count: byteCount, fill: fill)
    }
  }

  /// A tensor of random elements in a file, `offset` bytes after the begin of a page.
  private func stored(_ shape: Shape, offset: Int, _ random: inout SeededGenerator) throws -> Tensor {
    let values = (0..<shape.count).map { _ in random.signedUnit() }
    let file = [UInt8](repeating: 0, count: offset) + values.withUnsafeBytes { Array($0) }
    let bytes = file.withUnsafeBytes { Bytes(copying: $0, named: "weights") }
    return Tensor(TensorType(.float32, shape), try #require(bytes.slice(offset: offset, count: 4 * shape.count)))
  }

  private func expectAgreement(_ graph: Graph, _ input: Tensor, packing keys: [String], _ place: String) throws {
    let expected = try ReferenceDevice().run(graph, [input]).outputs[0].floats
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      let weights = RecordingWeights()
      let actual = try CPUDevice(variant: variant).run(graph, [input], weights: weights).outputs[0].floats
      #expect(actual == expected && weights.keys == keys, "\(name): \(place)")
    }
  }

  @Test(arguments: 0..<8) func gatherReadsTheFileAtAnyAddress(offset: Int) throws {
    var random = SeededGenerator(seed: UInt64(offset))
    let indices = Tensor(TensorType(.int64, [4]), rounding: [3, -1, 0, 511])
    // A row of one element is read as a number, which must be aligned.
    for (shape, isRow) in [([512, 33] as Shape, true), ([16384, 1], false)] {
      let table = try stored(shape, offset: offset, &random)
      let graph = try oneNode(Gather(axis: 0), [(table.type, Weight(table)), (indices.type, nil)])
      let keys = isRow || offset % 4 == 0 ? [] : ["x0/dense-f32"]
      try expectAgreement(graph, indices, packing: keys, "\(shape) at \(offset)")
    }
  }

  @Test func smallConstantsAreInThePack() throws {
    var random = SeededGenerator(seed: 1)
    let indices = Tensor(TensorType(.int64, [2]), rounding: [3, 0])
    let table = try stored([16, 33], offset: 0, &random)
    let graph = try oneNode(Gather(axis: 0), [(table.type, Weight(table)), (indices.type, nil)])
    try expectAgreement(graph, indices, packing: ["x0/dense-f32"], "a small table")
  }

  @Test(arguments: 0..<8) func otherKernelsReadTheFileAtAlignedAddresses(offset: Int) throws {
    var random = SeededGenerator(seed: UInt64(offset))
    let constant = try stored([300, 64], offset: offset, &random)
    let x = try stored([300, 64], offset: 0, &random)
    let graph = try oneNode(Binary(.add), [(x.type, nil), (constant.type, Weight(constant))])
    try expectAgreement(graph, x, packing: offset % 4 == 0 ? [] : ["x1/dense-f32"], "at \(offset)")
  }

  /// A gather takes a table at any address; an addition of the same table needs a copy, whichever comes first.
  @Test(arguments: [false, true]) func readersOfOneConstantAgreeOnItsAddress(gathersFirst: Bool) throws {
    var random = SeededGenerator(seed: 2)
    let table = try stored([512, 64], offset: 1, &random)
    var graph = Graph()
    let ids = [("table", table.type, Weight(table)), ("x", table.type, nil), ("indices", TensorType(.int64, [2]), nil)]
      .map { graph.addValue(Value(name: $0.0, type: $0.1, weight: $0.2)) }
    let sum = graph.addValue(Value(name: "sum", type: table.type))
    let rows = graph.addValue(Value(name: "rows", type: TensorType(.float32, [2, 64])))
    graph.inputs = [ids[1], ids[2]]
    graph.outputs = [sum, rows]
    let nodes = [
      Node(name: "add", op: Binary(.add), inputs: [ids[1], ids[0]], outputs: [sum], origins: []),
      Node(name: "gather", op: Gather(axis: 0), inputs: [ids[0], ids[2]], outputs: [rows], origins: []),
    ]
    graph.nodes = gathersFirst ? nodes.reversed() : nodes
    let x = try stored([512, 64], offset: 0, &random)
    let inputs = [x, Tensor(TensorType(.int64, [2]), rounding: [7, -2])]
    let expected = try ReferenceDevice().run(graph, inputs).outputs.map(\.floats)
    let weights = RecordingWeights()
    #expect(try CPUDevice().run(graph, inputs, weights: weights).outputs.map(\.floats) == expected)
    #expect(weights.keys == ["table/dense-f32"])
  }

  /// The model has the transposition of the weight, which is packed without being computed.
  @Test(arguments: Tier.seeds(20, of: 200)) func transposedWeightsArePackedFromTheFile(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (depth, columns) = (1 + random.index(below: 80), 1 + random.index(below: 80))
    let rows = [1, 2, 5, 17][random.index(below: 4)]
    let source = Weight(try stored([depth, columns], offset: random.index(below: 4), &random))
    let x = try stored([rows, depth], offset: 0, &random)
    let type = TensorType(.float32, [columns, depth])
    let graphs = try [source.transposed([1, 0]), Weight(source.dense().transposed([1, 0]))].map {
      try oneNode(Linear(), [(x.type, nil), (type, $0)])
    }
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      for precision in [Precision.full, .low] {
        let results = try graphs.map {
          try CPUDevice(variant: variant).run($0, [x], precision: precision).outputs[0].floats
        }
        #expect(results[0] == results[1], "\(name) at \(precision): \(rows) x \(depth) x \(columns), seed \(seed)")
      }
    }
  }
}
