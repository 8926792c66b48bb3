import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Transposed convolutions between convolutions, which work on blocks of channels.
struct TransposedConvolutionTests {
  @Test(
    "any kernel, stride and padding between convolutions matches the reference",
    arguments: Tier.some(4, of: 1..<41 as Range<UInt64>))
  func randomWindows(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    func between(_ low: Int, _ high: Int) -> Int { low + random.index(below: high - low + 1) }
    func pair(_ low: Int, _ high: Int) -> [Int] { [between(low, high), between(low, high)] }
    func weight(_ shape: Shape) -> ValueID {
      builder.constant("w", Tensor.random(.float32, shape, -0.3...0.3, &random))
    }
    let (strides, kernel) = (pair(1, 3), pair(1, 5))
    let (inputs, outputs) = (between(4, 40), between(6, 40))
    let input = Tensor.random(.float32, [between(1, 2), 3, between(4, 9), between(4, 17)], -1...1, &random)
    func add(_ op: any Operator, _ operands: [ValueID], _ name: String) throws -> ValueID {
      try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Test", index: 0))[0]
    }
    let around = Window(kernel: [3, 3], before: [1, 1], after: [1, 1])
    let first = try add(
      Convolution(window: around), [try builder.input("x", input.type), weight([inputs, 3, 3, 3])], "first")
    let window = Window(kernel: kernel, strides: strides, before: pair(0, 2), after: pair(0, 2))
    let wide = try add(
      ConvolutionTranspose(window: window, outputPadding: strides.map { random.index(below: $0) }),
      [first, weight(Shape([inputs, outputs] + kernel))], "transposed")
    builder.output(try add(Convolution(window: around), [wide, weight([5, outputs, 3, 3])], "last"))
    let graph = try builder.finish()
    let expected = try ReferenceDevice().run(graph, [input]).outputs[0]
    for variant in CPUDevice.variantNames.indices {
      for threads in [1, 3] {
        let result = try CPUDevice(variant: variant).run(graph, [input], threads: threads).outputs[0]
        let worst = zip(result.floats, expected.floats).map { abs($0 - $1) }.max() ?? .infinity
        let scale = expected.floats.map(abs).max() ?? 0
        #expect(
          result.type == expected.type && worst <= 1e-5 * scale,
          "seed \(seed), \(CPUDevice.variantNames[variant]), \(window): off by \(worst) of \(scale)")
      }
    }
  }

  private static let strideCases = [[32, 32], [1 << 29, 1 << 29], [1, 1 << 29]]

  @Test("huge strides match the reference", arguments: Tier.some(1, of: strideCases))
  func hugeStrides(strides: [Int]) throws {
    var random = SeededGenerator(seed: 8)
    let window = Window(kernel: [4, 5], strides: strides, before: [1, 1], after: [0, 2])
    let (graph, inputs) = try oneNode(
      ConvolutionTranspose(window: window), Tensor.random(.float32, [1, 16, 1, 1], -1...1, &random),
      weights: [Tensor.random(.float32, [16, 32, 4, 5], -1...1, &random)])
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0].floats
    for variant in CPUDevice.variantNames.indices {
      let result = try CPUDevice(variant: variant).run(graph, inputs).outputs[0].floats
      #expect(zip(result, expected).allSatisfy { abs($0 - $1) < 1e-5 })
    }
  }

  @Test("an upsampling network between convolutions copies nothing", arguments: CPUDevice.variantNames.indices)
  func joinedWithoutCopies(variant: Int) throws {
    guard CPUDevice.variantNames[variant].hasPrefix("avx") else { return }
    var random = SeededGenerator(seed: 5)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    func add(_ op: any Operator, _ operands: [ValueID], _ name: String) throws -> ValueID {
      try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Test", index: 0))[0]
    }
    func weight(_ shape: Shape) -> ValueID {
      builder.constant("w", Tensor.random(.float32, shape, -0.2...0.2, &random))
    }
    let input = Tensor.random(.float32, [1, 32, 8, 12], -1...1, &random)
    let around = Window(kernel: [3, 3], before: [1, 1], after: [1, 1])
    let halves = Window(kernel: [2, 2], strides: [2, 2])
    let skip = try add(Convolution(window: around), [try builder.input("x", input.type), weight([32, 32, 3, 3])], "a")
    let small = try add(Pool(.maximum, window: halves), [skip], "pool")
    let deep = try add(Convolution(window: around), [small, weight([64, 32, 3, 3])], "b")
    let up = try add(ConvolutionTranspose(window: halves), [deep, weight([64, 32, 2, 2])], "up")
    let joined = try add(Concat(axis: 1), [skip, up], "join")
    builder.output(try add(Convolution(window: around), [joined, weight([16, 64, 3, 3])], "c"))
    let graph = try builder.finish()
    let result = try CPUDevice(variant: variant).run(graph, [input], measuresNodes: true)
    #expect(result.timings.allSatisfy { $0.node != "join" || $0.seconds == 0 })
    let expected = try ReferenceDevice().run(graph, [input]).outputs[0]
    let worst = zip(result.outputs[0].floats, expected.floats).map { abs($0 - $1) }.max() ?? .infinity
    #expect(worst < 1e-4, "off by \(worst)")
  }
}
