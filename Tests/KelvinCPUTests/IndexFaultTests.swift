import ConformanceChecks
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// An index outside its axis: an error that names the node and the index, after which the same invocation runs again.
@Suite struct IndexFaultTests {
  struct Case: CustomStringConvertible {
    let op: any Operator
    let x: Shape
    let indices: Tensor
    var updates: Shape?
    var description: String { "\(op.name) \(indices.integers)" }
  }

  static let cases: [Case] = [
    Case(op: Gather(axis: 0), x: [5, 3], indices: Tensor([Int64]([0, 5]), [2])),
    Case(op: Gather(axis: 1), x: [2, 5], indices: Tensor([Int64]([-6]), [1])),
    Case(op: Gather(axis: 0), x: [5, 70_000], indices: Tensor([Int64]([4, .min, 1]), [3])),
    Case(op: GatherElements(axis: 1), x: [2, 5], indices: Tensor([Int64]([4, 0, 1, .max]), [2, 2])),
    Case(op: GatherND(), x: [4, 5], indices: Tensor([Int64]([3, 4, 0, 5]), [2, 2])),
    Case(op: ScatterElements(axis: 0), x: [5], indices: Tensor([Int64]([1, 7]), [2]), updates: [2]),
    Case(op: ScatterND(), x: [4, 5], indices: Tensor([Int64]([3, -6]), [1, 2]), updates: [1]),
  ]

  @Test(arguments: cases) func errorNamesTheNodeAndTheIndex(_ testCase: Case) throws {
    let (graph, inputs) = try graph(of: testCase)
    let outside = try #require(testCase.indices.integers.first { !(-5...4).contains($0) })
    for device in [CPUDevice() as any Device, ReferenceDevice()] {
      let error = try #require(throws: DeviceError.self) { try device.run(graph, inputs) }
      #expect(error.code == .execution)
      #expect(error.device == device.info.id)
      #expect(error.place == "picker")
      #expect(error.reason.contains("index \(outside) is outside an axis of 5 elements"), "\(error)")
    }
  }

  @Test func sameInvocationRunsAgain() throws {
    let (graph, inputs) = try graph(of: Self.cases[0])
    let device = CPUDevice()
    let executable = try device.compile(
      Segment(
        graph: graph, precision: .full, threads: 2, isDeterministic: true, weights: MemoryPackedWeights(),
        blobs: NoBlobCache()))
    func slice(_ type: TensorType) throws -> BufferSlice {
      BufferSlice(try device.makeBuffer(byteCount: type.byteCount), offset: 0, byteCount: type.byteCount)
    }
    let (given, picked) = (try graph.inputs.map { try slice(graph[$0].type) }, try slice(graph[graph.outputs[0]].type))
    let scratch =
      executable.scratchByteCount == 0
      ? nil
      : BufferSlice(
        try device.makeBuffer(byteCount: executable.scratchByteCount), offset: 0, byteCount: executable.scratchByteCount
      )
    let invocation = try executable.bind(
      Bindings(inputs: given, outputs: [picked], scratch: scratch, measuresNodes: false))
    for (tensor, slice) in zip(inputs, given) { try tensor.bytes.withUnsafeBytes { try slice.write($0) } }
    #expect(throws: DeviceError.self) { try invocation.submit() }
    try Tensor([Int64]([0, 4]), [2]).bytes.withUnsafeBytes { try given[1].write($0) }
    try invocation.submit()
    var result = [Float](repeating: 0, count: 6)
    try result.withUnsafeMutableBytes { try picked.read(into: $0) }
    #expect(result == [0, 1, 2, 12, 13, 14])
  }

  private func graph(of testCase: Case) throws -> (graph: Graph, inputs: [Tensor]) {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    var inputs = [
      Tensor((0..<testCase.x.count).map { Float($0) }, testCase.x), testCase.indices,
    ]
    if let updates = testCase.updates { inputs.append(Tensor([Float](repeating: -1, count: updates.count), updates)) }
    let ids = try inputs.enumerated().map { try builder.input("operand\($0)", $1.type) }
    let origin = Origin(name: "picker", kind: "Test", index: 0)
    let result = try builder.add(testCase.op, ids, name: "picker", outputNames: ["y"], origin: origin)[0]
    builder.output(result)
    return (try builder.finish(), inputs)
  }
}
