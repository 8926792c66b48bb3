import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// Pointwise convolutions, functions of one element and of two work on rows of channels, and transpositions to and from
/// rows move nothing.
struct RowLayoutTests {
  private func network(_ kernel: Int, residual: Bool) throws -> (graph: Graph, input: Tensor) {
    var random = SeededGenerator(seed: 11)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let input = Tensor.random(.float32, [2, 5, 7, 6], -1...1, &random)
    let x = try builder.input("x", input.type)
    func weight(_ shape: Shape) -> ValueID {
      builder.constant("w", Tensor.random(.float32, shape, -0.7...0.7, &random))
    }
    let planes = try builder.add(
      Transpose([0, 3, 1, 2]), x, name: "first", origin: Origin(name: "first", kind: "Test", index: 0))
    let window = Window(kernel: [kernel, kernel], before: [kernel / 2, kernel / 2], after: [kernel / 2, kernel / 2])
    var y = try builder.add(
      Convolution(window: window, epilogue: .bias), planes, weight([6, 6, kernel, kernel]), weight([6]),
      name: "convolution", origin: Origin(name: "convolution", kind: "Test", index: 0))
    y = try builder.add(Unary(.sigmoid), y, name: "sigmoid", origin: Origin(name: "sigmoid", kind: "Test", index: 0))
    y = try builder.add(
      Binary(.multiply), y, weight([1, 6, 1, 1]), name: "scale", origin: Origin(name: "scale", kind: "Test", index: 0))
    if residual {
      y = try builder.add(
        Binary(.add), planes, y, name: "residual", origin: Origin(name: "residual", kind: "Test", index: 0))
    }
    builder.output(
      try builder.add(Transpose([0, 2, 3, 1]), y, name: "last", origin: Origin(name: "last", kind: "Test", index: 0)))
    return (try builder.finish(), input)
  }

  @Test(arguments: [true, false], CPUDevice.variantNames.indices)
  func transpositionsAroundPointwiseConvolutionsMoveNothing(residual: Bool, variant: Int) throws {
    let (graph, input) = try network(1, residual: residual)
    let device = CPUDevice(variant: variant)
    let result = try device.run(graph, [input], measuresNodes: true)
    let moved = result.timings.filter { ["first", "last"].contains($0.node) && $0.seconds > 0 }
    #expect(moved.isEmpty)
    expectClose(result.outputs[0], try ReferenceDevice().run(graph, [input]).outputs[0], within: 1e-5)
  }

  @Test(arguments: [(7, 1), (3, 2), (5, 1)], CPUDevice.variantNames.indices)
  func depthwiseWindowsReadAndWriteRows(of window: (kernel: Int, stride: Int), variant: Int) throws {
    var random = SeededGenerator(seed: 3)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let input = Tensor.random(.float32, [2, 9, 11, 48], -1...1, &random)
    func add(_ op: any Operator, _ operands: [ValueID], _ name: String) throws -> ValueID {
      try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Test", index: 0))[0]
    }
    func weight(_ shape: Shape) -> ValueID {
      builder.constant("w", Tensor.random(.float32, shape, -0.7...0.7, &random))
    }
    let kernel = window.kernel
    let pads = [kernel / 2, kernel / 2]
    let planes = try add(
      Transpose([0, 3, 1, 2]), [try builder.input("x", input.type)], "first")
    let op = Convolution(
      window: Window(kernel: [kernel, kernel], strides: [window.stride, window.stride], before: pads, after: pads),
      groups: 48, epilogue: .bias)
    let y = try add(op, [planes, weight([48, 1, kernel, kernel]), weight([48])], "convolution")
    builder.output(try add(Transpose([0, 2, 3, 1]), [y], "last"))
    let graph = try builder.finish()
    for threads in [1, 3] {
      let result = try CPUDevice(variant: variant).run(graph, [input], threads: threads, measuresNodes: true)
      if CPUDevice.variantNames[variant].hasPrefix("avx") {
        #expect(result.timings.allSatisfy { !["first", "last"].contains($0.node) || $0.seconds == 0 })
      }
      expectClose(result.outputs[0], try ReferenceDevice().run(graph, [input]).outputs[0], within: 1e-5)
    }
  }

  @Test func planeKernelsGetPlanes() throws {
    let (graph, input) = try network(3, residual: true)
    let result = try CPUDevice().run(graph, [input])
    expectClose(result.outputs[0], try ReferenceDevice().run(graph, [input]).outputs[0], within: 1e-5)
  }
}
