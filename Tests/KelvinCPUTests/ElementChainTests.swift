import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// Element-wise nodes that run chunk by chunk give the bits that they give one by one.
struct ElementChainTests {
  private var random = SeededGenerator(seed: 3)
  private var builder = GraphBuilder(evaluator: ReferenceEvaluator())
  private var inputs: [Tensor] = []
  private var count = 0

  private mutating func input(_ shape: Shape) throws -> ValueID {
    inputs.append(.random(.float32, shape, 0.5...2, &random))
    return try builder.input("x\(inputs.count)", inputs[inputs.count - 1].type)
  }

  private mutating func add(_ op: any Operator, _ operands: ValueID...) throws -> ValueID {
    count += 1
    let name = "\(op.name)\(count)"
    return try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Test", index: count))[0]
  }

  /// A session that measures nodes runs them one by one.
  private mutating func expectSameBits(_ outputs: [ValueID]) throws {
    for output in outputs { builder.output(output) }
    let graph = try builder.finish()
    let wanted = try ReferenceDevice().run(graph, inputs).outputs
    for variant in CPUDevice.variantNames.indices {
      let device = CPUDevice(variant: variant)
      let alone = try device.run(graph, inputs, threads: 1, measuresNodes: true).outputs
      for threads in [1, 3] {
        #expect(try device.run(graph, inputs, threads: threads).outputs == alone)
      }
      for (got, wanted) in zip(alone, wanted) { expectClose(got, wanted, within: 1e-4) }
    }
  }

  @Test("a sum of many operands", arguments: [[7], [3, 4099], [2, 5, 31, 67]])
  func sums(shape: [Int]) throws {
    var test = self
    var sum = try test.input(Shape(shape))
    for _ in 0..<11 { sum = try test.add(Binary(.add), sum, try test.input(Shape(shape))) }
    try test.expectSameBits([try test.add(Unary(UnaryFunction(.affine, a: 1 / 12)), sum)])
  }

  @Test("a value between nodes that another node or the caller reads is complete")
  func sharedValues() throws {
    var test = self
    let (x, y) = (try test.input([3, 5000]), try test.input([3, 5000]))
    let product = try test.add(Binary(.multiply), x, y)
    let root = try test.add(Unary(UnaryFunction(.sqrt)), product)
    let sum = try test.add(Binary(.add), root, product)
    let mean = try test.add(Reduce(.mean, axes: [1], keepsDimensions: true), root)
    let centered = try test.add(Binary(.subtract), sum, mean)
    try test.expectSameBits([centered, sum])
  }

  @Test("operands that broadcast over rows and columns")
  func broadcasts() throws {
    var test = self
    let x = try test.input([4, 2500])
    let rows = try test.add(Binary(.multiply), x, try test.input([4, 1]))
    let more = try test.add(Binary(.add), try test.input([1, 1]), rows)
    let columns = try test.add(Binary(.divide), more, try test.input([2500]))
    try test.expectSameBits([try test.add(Binary(.subtract), columns, x)])
  }
}

/// A scatter updates a tensor that nothing else reads in place.
struct UpdatedInputTests {
  private static let indices = Tensor([Int64(4), 0, 4, 1], [2, 2])

  private func graph(_ op: any Operator, readsTwice: Bool) throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    func add(_ op: any Operator, _ operands: [ValueID], _ name: String) throws -> ValueID {
      try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Test", index: 0))[0]
    }
    let x = try builder.input("x", TensorType(.float32, [5, 2]))
    let updates = try builder.input("updates", TensorType(.float32, op is ScatterND ? [2] : [2, 2]))
    let indices = builder.constant("indices", Self.indices)
    let root = try add(Unary(UnaryFunction(.sqrt)), [x], "root")
    let view = try add(Reshape([5, 2]), [root], "view")
    let first = try add(op, [view, indices, updates], "first")
    let second = try add(op, [first, indices, updates], "second")
    builder.output(try add(Unary(.relu), [second], "end"))
    if readsTwice {
      builder.output(try add(Binary(.add), [root, first], "late"))
    }
    return try builder.finish()
  }

  @Test(arguments: [false, true], [ScatterReduction.replace, .add])
  func updatesAreWhatTheReferenceGives(readsTwice: Bool, reduction: ScatterReduction) throws {
    var random = SeededGenerator(seed: 5)
    let x = Tensor.random(.float32, [5, 2], 0.5...2, &random)
    for op in [ScatterElements(axis: 0, reduction: reduction), ScatterND(reduction: reduction)] as [any Operator] {
      let updates = Tensor.random(.float32, op is ScatterND ? [2] : [2, 2], 0.5...2, &random)
      let graph = try graph(op, readsTwice: readsTwice)
      let wanted = try ReferenceDevice().run(graph, [x, updates]).outputs
      let got = try CPUDevice().run(graph, [x, updates]).outputs
      for (got, wanted) in zip(got, wanted) { expectClose(got, wanted, within: 1e-6) }
    }
  }
}
