import KelvinDevices
import KelvinGPU
import KelvinGraph
import Testing

/// Pools work on blocks, sums on dense tensors, unary functions on both.
struct LoweringTests {
  private let pool = Pool(.maximum, window: Window(kernel: [1, 1]))
  private let relu = Unary(.relu)
  private let sum = Binary(.add)

  @Test func valueIsConvertedOnceForAllReaders() throws {
    var net = Net(Shape([1, 6, 3, 3]))
    let x = net.x
    let (a, b) = (try net.add(pool, x), try net.add(pool, x))
    try net.output(try net.add(sum, a, b), try net.add(sum, a, a))
    #expect(try net.programs() == ["block", "pool", "pool", "unblock", "unblock", "binary", "binary"])
  }

  @Test func layoutAgnosticKernelStaysInBlocks() throws {
    var net = Net(Shape([1, 6, 3, 3]))
    try net.output(try net.add(pool, try net.add(relu, try net.add(pool, net.x))))
    // Two blocks of four channels, nine positions.
    #expect(try net.programs() == ["block", "pool", "unary of 72", "pool", "unblock"])
  }

  @Test func rowReductionsStayInBlocks() throws {
    let card = NamingTarget(lineGroup: 64)
    for (op, shape, target, kernel) in [
      (Softmax(axis: 1) as any Operator, [1, 6, 3, 3], NamingTarget(), "softmax"),
      (Softmax(axis: 0), [2, 6, 3, 3], NamingTarget(), "softmax"),
      (Softmax(axis: 3), [1, 6, 3, 3], NamingTarget(), "softmax"),
      (Softmax(axis: 1), [1, 64, 3, 3], card, "softmax result of 1"),
      (Softmax(axis: 2), [1, 6, 64, 3], card, "softmax result of 1"),
      (LayerNormalization(axis: 2, epsilon: 1), [1, 6, 3, 3], NamingTarget(), "layerNormalization result"),
    ] {
      var net = Net(Shape(shape))
      try net.output(try net.add(pool, try net.add(op, try net.add(pool, net.x))))
      let programs = try net.lowered(target).dispatches.map(\.call.program)
      #expect(programs == ["block", "pool", kernel, "pool", "unblock"])
    }
    // A reduction along channels leaves none.
    var net = Net(Shape([1, 64, 3, 3]))
    try net.output(
      try net.add(Reduce(.maximum, axes: [1], keepsDimensions: false), try net.add(pool, net.x)))
    #expect(try net.lowered(card).dispatches.map(\.call.program) == ["block", "pool", "reduce 1 first last"])
  }

  @Test func rowsOverPaddingLanesLeaveBlocks() throws {
    let clearing = NamingTarget(clearsLanes: true)
    for (op, channels, stays) in [
      (Softmax(axis: 3) as any Operator, 6, false), (Softmax(axis: 3), 8, true), (Softmax(axis: 1), 6, true),
      (LayerNormalization(axis: 2, epsilon: 1), 6, true), (LayerNormalization(axis: 2, epsilon: 0), 6, false),
    ] {
      var net = Net(Shape([1, channels, 3, 3]))
      try net.output(try net.add(pool, try net.add(op, try net.add(pool, net.x))))
      let moves = try net.lowered(clearing).dispatches.filter { $0.call.program == "unblock" }
      #expect(moves.count == (stays ? 1 : 2), "\(op), \(channels)")
    }
  }

  @Test func unsharedOutputIsWrittenDense() throws {
    var net = Net(Shape([1, 6, 3, 3]))
    try net.output(try net.add(relu, try net.add(pool, net.x)))
    let dispatches = try net.lowered().dispatches
    #expect(dispatches.map(\.call.program) == ["block", "pool", "unblock", "unary of 54"])
    #expect(dispatches.last?.write.place == .output(0))
  }

  @Test(arguments: [
    ([1, 8, 1, 1], ["pool", "binary"]), ([3, 8, 1, 1], ["pool", "binary"]),
    ([1, 6, 1, 1], ["block", "pool", "binary"]),
    ([3, 6, 1, 1], ["block", "pool", "unblock", "binary"]), ([1, 8, 1, 2], ["block", "pool", "unblock", "binary"]),
  ])
  func blocksEqualToDenseTensorsAreNotConverted(_ shape: [Int], _ expected: [String]) throws {
    var net = Net(Shape(shape))
    try net.output(try net.add(sum, try net.add(pool, net.x), net.x))
    #expect(try net.programs() == expected)
  }

  @Test func reshapesAddNothing() throws {
    var net = Net(Shape([1, 6, 3, 3]))
    let flat = try net.add(Reshape([1, 6, 9]), try net.add(pool, net.x))
    try net.output(try net.add(Pool(.maximum, window: Window(kernel: [1])), flat), try net.add(relu, net.x))
    #expect(try net.programs() == ["block", "pool", "pool", "unary of 54", "unblock"])
  }

  @Test func everyOutputIsWritten() throws {
    var net = Net(Shape([2, 3]))
    let y = try net.add(relu, net.x)
    try net.output(y, net.x, y)
    let dispatches = try net.lowered().dispatches
    #expect(dispatches.map(\.call.program) == ["unary of 6", "copy", "copy"])
    #expect(dispatches.map(\.write.place) == [.output(0), .output(1), .output(2)])
    #expect(dispatches[1].reads.map(\.place) == [.input(0)])
    #expect(dispatches[2].reads.map(\.place) == [.output(0)])
  }

  @Test func float16IsWidenedOnlyAtTheBoundary() throws {
    var net = Net(Shape([1, 6, 3, 3]), .float16)
    try net.output(try net.add(pool, try net.add(sum, net.x, net.x)))
    #expect(try net.programs() == ["enter", "binary", "block", "pool", "unblock", "leave"])
  }

  @Test func storedFloat16NeedsNoConversion() throws {
    var net = Net(Shape([1, 6, 3, 3]), .float16)
    try net.output(try net.add(pool, try net.add(sum, net.x, net.x)))
    let lowered = try net.lowered(NamingTarget(halves: .float16))
    #expect(
      lowered.dispatches.map(\.call.program) == ["half binary", "half block", "half pool", "half unblock"])
    // The sum, 54 elements, and two of two blocks of four channels.
    #expect(lowered.dispatches.dropLast().map(\.write.byteCount) == [112, 144, 144])
  }

  @Test func kernelWithoutFloat16SupportReadsWidenedCopies() throws {
    var net = Net(Shape([2, 8]), .float16)
    let softmax = Softmax(axis: 1)
    let (a, b) = (try net.add(softmax, net.x), try net.add(softmax, net.x))
    try net.output(try net.add(sum, a, b))
    let dispatches = try net.lowered(NamingTarget(halves: .float16)).dispatches
    #expect(
      dispatches.map(\.call.program) == ["widen", "softmax", "narrow", "softmax", "narrow", "half binary"])
    #expect(dispatches[1].reads == dispatches[3].reads)
    #expect(dispatches.map(\.write.isHalf) == [false, false, true, false, true, true])
  }

  @Test func castsBetweenFloatsConvertStoredFloat16() throws {
    for (from, to, conversion) in [(ScalarType.float16, ScalarType.float32, "widen"), (.float32, .float16, "narrow")] {
      var net = Net(Shape([2, 8]), from)
      try net.output(try net.add(Cast(to), net.x))
      #expect(try net.lowered(NamingTarget(halves: .float16)).dispatches.map(\.call.program) == [conversion])
    }
  }

  @Test func float32StoredAsFloat16IsConvertedAtTheBoundary() throws {
    var net = Net(Shape([1, 6, 3, 3]))
    try net.output(try net.add(pool, try net.add(sum, net.x, net.x)))
    let target = NamingTarget(halves: .float16)
    #expect(try net.lowered(target).dispatches.map(\.call.program) == ["binary", "block", "pool", "unblock"])
    let dispatches = try net.lowered(target, .low).dispatches
    #expect(
      dispatches.map(\.call.program) == ["enter", "half binary", "half block", "half pool", "half unblock", "leave"])
    #expect(dispatches.map(\.write.isHalf) == [true, true, true, true, true, false])
    // A device that keeps float32 does so at any precision.
    #expect(try net.lowered(NamingTarget(), .low).dispatches.count == 4)
  }

  @Test func float32StoredAsFloat16IsLowPrecision() throws {
    var net = Net(Shape([2, 8]))
    try net.output(try net.add(sum, try net.add(relu, net.x), net.x))
    var integers = Net(Shape([2, 8]), .int32)
    try integers.output(try integers.add(sum, integers.x, integers.x))
    var halves = Net(Shape([2, 8]), .float16)
    try halves.output(try halves.add(sum, halves.x, halves.x))
    #expect(net.effectivePrecisions(NamingTarget(halves: .float16), .low) == [.low, .low])
    #expect(net.effectivePrecisions(NamingTarget(halves: .float16), .high) == [.full, .full])
    #expect(net.effectivePrecisions(NamingTarget(), .low) == [.full, .full])
    #expect(integers.effectivePrecisions(NamingTarget(halves: .float16), .low) == [.full])
    #expect(halves.effectivePrecisions(NamingTarget(halves: .float16), .low) == [.full])
  }

  @Test func castsBetweenStoredFloat16AreRenames() throws {
    for (from, to, programs) in [
      (ScalarType.float16, ScalarType.float32, ["leave"]), (.float32, .float16, ["enter", "half copy"]),
    ] {
      var net = Net(Shape([2, 8]), from)
      try net.output(try net.add(Cast(to), net.x))
      #expect(try net.lowered(NamingTarget(halves: .float16), .low).dispatches.map(\.call.program) == programs)
    }
  }

  @Test func unpaddedAdjacentAxesAreMerged() throws {
    var net = Net(Shape([2, 3, 4, 5, 6]))
    try net.output(try net.add(Pad(before: [0, 0, 1, 0, 0], after: [0, 0, 0, 0, 0], mode: .edge), net.x))
    #expect(try net.programs() == ["pad [6, 5, 30]"])
  }

  @Test func scratchOfLiveValuesDoesNotOverlap() throws {
    var net = Net(Shape([1, 6, 3, 3]))
    var values = [net.x]
    for _ in 0..<6 { values.append(try net.add(pool, values[values.count - 1])) }
    try net.output(try net.add(sum, values[3], values[6]))
    let lowered = try net.lowered()
    var lives: [Int: ClosedRange<Int>] = [:]
    var sizes: [Int: Int] = [:]
    for (index, dispatch) in lowered.dispatches.enumerated() {
      for storage in dispatch.storages {
        guard case .scratch(let value) = storage.place else { continue }
        lives[value] = (lives[value]?.lowerBound ?? index)...index
        sizes[value] = storage.byteCount
      }
    }
    #expect(lives.count > 6)
    for (a, life) in lives {
      let bytes = lowered.scratchOffsets[a]..<lowered.scratchOffsets[a] + (sizes[a] ?? 0)
      #expect(bytes.upperBound <= lowered.scratchByteCount)
      for (b, other) in lives where b != a && life.overlaps(other) {
        #expect(!bytes.contains(lowered.scratchOffsets[b]), "values \(a) and \(b)")
      }
    }
  }

  @Test func missingKernelIsReported() throws {
    var net = Net(Shape([4]), .float64)
    let y = try net.add(relu, net.x)
    try net.output(y)
    let error = #expect(throws: DeviceError.self) { try net.lowered() }
    #expect(error?.code == .unsupported && error?.reason == "float64 values" && error?.device == "naming:0")
  }
}

/// On GPUs, groups share rows that are few and long, and cut rows into parts if there are too few.
struct SharedRowTests {
  private let card = NamingTarget(lineGroup: 64)

  private func programs(_ op: any Operator, _ shape: Shape, _ target: NamingTarget) throws -> [String] {
    var net = Net(shape)
    try net.output(try net.add(op, net.x))
    return try net.lowered(target).dispatches.map(\.call.program)
  }

  @Test func longRowIsReducedInTwoPasses() throws {
    #expect(
      try programs(Softmax(axis: 1), [1, 4096], card) == ["softmax statistics of 4", "softmax result of 4"])
    let normalization = LayerNormalization(axis: 1, epsilon: 1e-5)
    #expect(
      try programs(normalization, [1, 4096], card)
        == ["layerNormalization statistics", "layerNormalization result"])
    let sum = Reduce(.sum, axes: [1], keepsDimensions: true)
    #expect(try programs(sum, [1, 4096], card) == ["reduce 4 first", "reduce 1 last"])
  }

  @Test func manyRowsUseOneGroupEach() throws {
    #expect(try programs(Softmax(axis: 1), [400, 4096], card) == ["softmax result of 1"])
    let sum = Reduce(.sum, axes: [1], keepsDimensions: true)
    #expect(try programs(sum, [400, 4096], card) == ["reduce 1 first last"])
  }

  @Test(arguments: [[4, 16], [1, 40, 20_000]] as [Shape])
  func shortOrStridedRowsUseSingleInvocations(shape: Shape) throws {
    #expect(try programs(Softmax(axis: 1), shape, card) == ["softmax"])
  }

  @Test func deviceWithoutSharedMemoryUsesSingleInvocations() throws {
    #expect(try programs(Softmax(axis: 1), [1, 4096], NamingTarget()) == ["softmax"])
  }

  @Test func rowDepthIsSplitForFewColumns() {
    func columns(rows: Int = 1, depth: Int, _ count: Int) -> Int {
      RowProduct(rows: rows, depth: depth, columns: count, inputStride: depth, outputStride: count)
        .columns(ofGroup: 64, rowTile: 1)
    }
    #expect(columns(depth: 768, 768) == 4)
    #expect(columns(depth: 4096, 4096) == 8)
    #expect(columns(depth: 768, 50_000) == 64)
    #expect(columns(rows: 64, depth: 768, 768) == 64)
    #expect(columns(depth: 64, 768) == 32)
  }

  @Test func separateAxesAreNotOneRow() throws {
    let mean = { (axes: [Int]) in Reduce(.mean, axes: axes, keepsDimensions: true) }
    #expect(try programs(mean([0, 2]), [40, 3, 40], card) == ["reduce"])
    #expect(try programs(mean([0, 2]), [40, 1, 40], card) == ["reduce 1 first last"])
  }
}

/// Contiguous runs are read and written in place; tensors that kernels cannot address are computed in parts.
struct PartLoweringTests {
  private let relu = Unary(.relu)

  private func rows(_ first: Int, _ count: Int, of width: Int) -> Slice {
    Slice(starts: [first, 0], counts: [count, width], steps: [1, 1])
  }

  @Test func contiguousSliceIsReadInPlace() throws {
    var net = Net([4, 64])
    try net.output(try net.add(relu, try net.add(rows(1, 2, of: 64), net.x)))
    let dispatches = try net.lowered().dispatches
    #expect(dispatches.map(\.call.program) == ["unary of 128"])
    #expect(dispatches[0].reads == [Storage(.input(0), offset: 256, byteCount: 512, isHalf: false)])
  }

  @Test(arguments: [2, -2, 0]) func gatherByAConstantIndexIsReadInPlace(index: Int64) throws {
    var net = Net([4, 64])
    try net.output(try net.add(relu, try net.add(Gather(axis: 0), net.x, net.weight(Tensor([index], [])))))
    let dispatches = try net.lowered().dispatches
    #expect(dispatches.map(\.call.program) == ["unary of 64"])
    #expect(dispatches[0].reads == [Storage(.input(0), offset: index == 0 ? 0 : 512, byteCount: 256, isHalf: false)])
  }

  @Test(arguments: [([4], 0), ([-5], 0), ([1, 2], 0), ([1], 1)] as [([Int64], Int)])
  func nonContiguousSliceIsGathered(indices: [Int64], axis: Int) throws {
    var net = Net([4, 64])
    try net.output(try net.add(Gather(axis: axis), net.x, net.weight(Tensor(indices, [indices.count]))))
    #expect(try net.programs() == ["gather"])
  }

  @Test func misalignedSliceIsCopied() throws {
    var net = Net([4, 48])
    try net.output(try net.add(relu, try net.add(rows(1, 2, of: 48), net.x)))
    #expect(try net.programs() == ["copy", "unary of 96"])
  }

  @Test func blocksAreConcatenatedInPlace() throws {
    var net = Net([1, 16, 2, 2])
    let pool = Pool(.maximum, window: Window(kernel: [1, 1]))
    let parts = (try net.add(pool, net.x), try net.add(pool, net.x), try net.add(pool, net.x))
    let inner = try net.add(Concat(axis: 1), parts.0, parts.1)
    try net.output(try net.add(pool, try net.add(Concat(axis: 1), inner, parts.2)))
    let dispatches = try net.lowered().dispatches
    #expect(dispatches.map(\.call.program) == ["block", "pool", "pool", "pool", "pool", "unblock"])
    let whole = try #require(dispatches[4].reads.first)
    #expect(whole.byteCount == 768)
    #expect(dispatches[1...3].map(\.write.place) == [whole.place, whole.place, whole.place])
    #expect(dispatches[1...3].map(\.write.offset) == [0, 256, 512])
  }

  @Test func blocksOfSeveralImagesAreConcatenatedByCopies() throws {
    var net = Net([2, 16, 2, 2])
    let pool = Pool(.maximum, window: Window(kernel: [1, 1]))
    let parts = (try net.add(pool, net.x), try net.add(pool, net.x))
    try net.output(try net.add(pool, try net.add(Concat(axis: 1), parts.0, parts.1)))
    #expect(try net.programs() == ["block", "pool", "pool", "copy", "copy", "pool", "unblock"])
  }

  @Test func concatenatedPartsAreWrittenInPlace() throws {
    var net = Net([2, 64])
    let parts = (try net.add(relu, net.x), try net.add(Softmax(axis: 1), net.x))
    try net.output(try net.add(Concat(axis: 0), parts.0, parts.1, net.x))
    let dispatches = try net.lowered().dispatches
    #expect(dispatches.map(\.call.program) == ["unary of 128", "softmax", "copy"])
    #expect(dispatches.map(\.write.place) == [.output(0), .output(0), .output(0)])
    #expect(dispatches.map(\.write.offset) == [0, 512, 1024])
  }

  @Test func concatenatedPartThatIsAnOutputIsCopied() throws {
    var net = Net([2, 64])
    let part = try net.add(relu, net.x)
    try net.output(part, try net.add(Concat(axis: 0), part, net.x))
    let dispatches = try net.lowered().dispatches
    #expect(dispatches.map(\.call.program) == ["unary of 128", "copy", "copy"])
    #expect(dispatches[0].write.place == .output(0))
  }

  @Test func tooLargeTensorIsComputedInPartsInPlace() throws {
    var net = Net([16, 64])
    try net.output(try net.add(relu, net.x))
    let dispatches = try net.lowered(NamingTarget(elementLimit: 640)).dispatches
    #expect(dispatches.map(\.call.program) == ["unary of 640", "unary of 384"])
    #expect(dispatches.map(\.reads[0].offset) == [0, 2560])
    #expect(dispatches.map(\.write.offset) == [0, 2560])
  }

  @Test func tooLargeTableIsSplitByColumns() throws {
    var net = Net([5], .int32)
    let table = net.weight(Tensor((0..<4096).map { Float($0) }, [32, 128]))
    try net.output(try net.add(Gather(axis: 0), table, net.x))
    let lowered = try net.lowered(NamingTarget(elementLimit: 2048))
    #expect(lowered.dispatches.map(\.call.program) == ["gather", "gather", "copy", "copy"])
    #expect(Set(lowered.dispatches.prefix(2).map(\.reads[0].place)) == [.weight(0), .weight(1)])
  }

  @Test func unsplittableTensorNamesTheLimit() throws {
    var net = Net([1024])
    try net.output(try net.add(Softmax(axis: 0), net.x))
    let error = #expect(throws: DeviceError.self) { try net.lowered(NamingTarget(elementLimit: 640)) }
    #expect(error?.reason == "float32[1024] is larger than 640 elements")
  }
}

/// A graph of one input, built node by node.
private struct Net {
  private var graph = Graph()
  let x: ValueID

  init(_ shape: Shape, _ scalar: ScalarType = .float32) {
    x = graph.addValue(Value(name: "x", type: TensorType(scalar, shape)))
    graph.inputs = [x]
  }

  mutating func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID {
    let type = try op.infer(graph.types(inputs))[0]
    let output = graph.addValue(Value(name: "value\(graph.values.count)", type: type))
    graph.nodes.append(
      Node(name: "node\(graph.nodes.count)", op: op, inputs: inputs, outputs: [output], origins: []))
    return output
  }

  mutating func weight(_ tensor: Tensor) -> ValueID {
    graph.addValue(Value(name: "weight\(graph.values.count)", type: tensor.type, weight: Weight(tensor)))
  }

  mutating func output(_ values: ValueID...) throws {
    graph.outputs = values
    try graph.verify()
  }

  func effectivePrecisions(_ target: NamingTarget, _ precision: Precision) -> [Precision] {
    let kernels = GPUKernels(target, trust: KernelTrust(driver: "", identity: "names"))
    return graph.nodes.map { kernels.effectivePrecision(precision, of: $0, in: graph) }
  }

  func lowered(
    _ target: NamingTarget = NamingTarget(), _ precision: Precision = .full
  ) throws -> LoweredSegment<NamingTarget> {
    let segment = Segment(
      graph: graph, precision: precision, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
      blobs: NoBlobCache())
    let trust = KernelTrust(driver: "", identity: "names")
    return try GPUKernels(target, trust: trust).lower(segment).0
  }

  func programs() throws -> [String] { try lowered().dispatches.map(\.call.program) }
}
