import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Element-wise nodes that run strip by strip give the bits that they give one by one.
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

  private mutating func weight(_ shape: Shape) -> ValueID {
    builder.constant("w", .random(.float32, shape, 0.5...2, &random))
  }

  /// A session that measures nodes runs them one by one.
  ///
  /// - Parameter tolerance: the largest difference from the reference; nil for values that the nodes may magnify.
  private mutating func expectSameBits(
    _ outputs: [ValueID], prefersBlocks: Bool = false, within tolerance: Double? = 1e-4
  ) throws {
    for output in outputs { builder.output(output) }
    let graph = try builder.finish()
    let wanted = tolerance == nil ? [] : try ReferenceDevice().run(graph, inputs).outputs
    for variant in CPUDevice.variantNames.indices {
      let device = CPUDevice(variant: variant, prefersBlocks: prefersBlocks)
      for threads in [1, 3] {
        let alone = try device.run(graph, inputs, threads: threads, measuresNodes: true).outputs
        let chained = try device.run(graph, inputs, threads: threads).outputs
        #expect(chained.map(Self.bits) == alone.map(Self.bits), "variant \(variant), \(threads) threads")
        for (got, wanted) in zip(alone, wanted) { expectClose(got, wanted, within: tolerance ?? 0) }
      }
    }
  }

  /// The bits of the elements, with one pattern for all float32 numbers that are NaN.
  private static func bits(_ tensor: Tensor) -> Tensor {
    guard tensor.type.scalar == .float32 else { return tensor }
    return Tensor(tensor.floats.map { $0.isNaN ? .nan : $0 }, tensor.shape)
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

  @Test("a factor of each channel, a residual and batch normalization", arguments: [false, true])
  func layerScale(prefersBlocks: Bool) throws {
    var test = self
    let x = try test.input([2, 3, 13, 11])
    func convolved(_ x: ValueID) throws -> ValueID {
      try test.add(
        Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1])), x,
        test.weight([24, test.builder.type(of: x).shape[1], 3, 3]))
    }
    let first = try convolved(x)
    let second = try convolved(first)
    let scaled = try test.add(Binary(.multiply), second, test.weight([24, 1, 1]))
    let sum = try test.add(Binary(.add), first, scaled)
    let normal = try test.add(
      BatchNormalization(epsilon: 1e-3), sum, test.weight([24]), test.weight([24]), test.weight([24]),
      test.weight([24]))
    let end = try test.add(Unary(.relu), normal)
    try test.expectSameBits([end, sum], prefersBlocks: prefersBlocks, within: 1)
  }

  @Test("a part of a value of the chain is complete before a node reads it")
  func parts() throws {
    var test = self
    let x = try test.input([3, 2000])
    let root = try test.add(Unary(UnaryFunction(.sqrt)), x)
    let last = try test.add(Slice(starts: [2, 0], counts: [1, 2000], steps: [1, 1]), root)
    let flat = try test.add(Reshape([2000]), last)
    let twice = try test.add(Binary(.add), root, root)
    try test.expectSameBits([try test.add(Binary(.subtract), twice, flat)])
  }

  @Test("chains of random nodes, on infinities and NaN too", arguments: Tier.seeds(UInt64(10), of: 150))
  func randomChains(seed: UInt64) throws {
    var test = self
    test.random = SeededGenerator(seed: seed)
    let shapes: [Shape] = [[1], [7], [511], [3, 700], [2, 5, 31, 7], [2, 16, 9, 13], [1, 4, 1, 1025]]
    let shape = test.pick(shapes)
    var x = try test.input(shape)
    test.inputs[0] = Tensor(test.inputs[0].type) { index in
      [.nan, .infinity, -.infinity, -0.0, 1e-40, Double(index % 9) - 4][index % 31 % 6]
    }
    var (values, results) = ([x], [ValueID]())
    for _ in 0..<4 + test.random.index(below: 40) {
      x = try test.random(on: test.random.index(below: 2) == 0 ? x : test.pick(values), values)
      values.append(x)
      if test.random.index(below: 6) == 0 { results.append(x) }
    }
    try test.expectSameBits(results + [x], within: nil)
  }

  private mutating func pick<Element>(_ choices: [Element]) -> Element { choices[random.index(below: choices.count)] }

  /// A node, or a few, whose result has the shape of x.
  private mutating func random(on x: ValueID, _ values: [ValueID]) throws -> ValueID {
    let shape = builder.type(of: x).shape
    switch random.index(below: 8) {
    case 0, 1:
      let kinds: [UnaryFunction.Kind] = [.relu, .clip, .gelu, .silu, .abs, .affine, .hardSwish, .tanh, .exp]
      return try add(Unary(UnaryFunction(pick(kinds), a: 0.3, b: 0.6)), x)
    case 2: return try add(Binary(pick([.add, .multiply, .maximum])), x, pick(values))
    case 3:
      let sizes = shape.dimensions.map { random.index(below: 2) == 0 ? 1 : $0 }
      let operand = try input(Shape(Array(sizes.dropFirst(random.index(below: sizes.count)))))
      let operands = random.index(below: 2) == 0 ? (x, operand) : (operand, x)
      return try add(Binary(pick([.subtract, .divide, .minimum, .power])), operands.0, operands.1)
    case 4:
      let isLess = try add(Compare(pick([.less, .equal, .greaterOrEqual])), x, pick(values))
      return try add(Select(), isLess, pick(values), x)
    case 5:
      let scalar = pick([ScalarType.int8, .int16, .int32, .int64])
      let integers = try add(Cast(scalar), x)
      let squares = try add(Binary(.multiply), integers, integers)
      return try add(Cast(.float32), try add(Unary(UnaryFunction(pick([.abs, .negate]))), squares))
    case 6:
      let flat = try add(Unary(UnaryFunction(.sigmoid)), try add(Reshape([shape.count]), x))
      return try add(Reshape(shape), flat)
    default:
      guard shape.rank > 1 else { return try add(Unary(UnaryFunction(.negate)), x) }
      let channels: Shape = [shape[1]]
      return try add(
        BatchNormalization(epsilon: 1e-3), x, weight(channels), weight(channels), weight(channels), weight(channels))
    }
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
