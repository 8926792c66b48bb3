import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

@Suite struct IntegerFusionTests {
  private let evaluator = ReferenceEvaluator()
  private let reference = ReferenceDevice()

  /// `x → quantize → dequantize → operators → quantize → dequantize`, as quantizers write models.
  private struct Source {
    var builder: GraphBuilder
    var random = SeededGenerator(seed: 11)

    init(_ evaluator: ReferenceEvaluator) { builder = GraphBuilder(evaluator: evaluator) }

    mutating func constant(_ name: String, _ scalar: ScalarType, _ values: [Double], _ shape: Shape? = nil) -> ValueID {
      builder.constant(name, Tensor(TensorType(scalar, shape ?? []), rounding: values))
    }

    mutating func bytes(_ name: String, _ scalar: ScalarType, _ shape: Shape) -> ValueID {
      let lower = scalar == .uint8 ? 0.0 : -128
      return constant(name, scalar, (0..<shape.count).map { _ in lower + Double(random.next() % 256) }, shape)
    }

    mutating func add(_ op: any Operator, _ inputs: [ValueID], _ name: String) throws -> ValueID {
      try builder.add(op, inputs, name: name, origin: Origin(name: name, kind: "Test", index: 0))[0]
    }

    mutating func quantize(_ x: ValueID, _ scale: Double, _ zero: Double, _ name: String) throws -> ValueID {
      try add(
        Quantize(scalar: .uint8),
        [x, constant("\(name).s", .float32, [scale]), constant("\(name).z", .uint8, [zero])], name)
    }

    mutating func dequantize(_ x: ValueID, _ scale: Double, _ zero: Double, _ name: String) throws -> ValueID {
      try add(
        Dequantize(),
        [x, constant("\(name).s", .float32, [scale]), constant("\(name).z", builder.type(of: x).scalar, [zero])], name)
    }
  }

  /// - Parameter readsSums: whether the model also returns what the convolution computes.
  private func convolution(readsSums: Bool = false) throws -> (Graph, [Tensor]) {
    var source = Source(evaluator)
    let x = try source.builder.input("x", TensorType(.float32, [1, 3, 9, 8]))
    let quantized = try source.quantize(x, 0.02, 130, "x.q")
    let real = try source.dequantize(quantized, 0.02, 130, "x.dq")
    let weights = try source.dequantize(source.bytes("w", .int8, [5, 3, 3, 3]), 0.01, 0, "w.dq")
    let bias = try source.dequantize(
      source.constant("b", .int32, [-3000, 0, 200, 5000, 77], [5]), Double(Float(0.02) * Float(0.01)), 0, "b.dq")
    let op = Convolution(window: Window(kernel: [3, 3], before: [1, 1]), epilogue: .bias)
    let sums = try source.add(op, [real, weights, bias], "conv")
    let clipped = try source.add(Unary(.clip(0, 1.5)), [sums], "clip")
    let result = try source.quantize(clipped, 0.013, 5, "y.q")
    source.builder.output(try source.dequantize(result, 0.013, 5, "y.dq"))
    if readsSums { source.builder.output(sums) }
    return (try source.builder.finish(), [.random(.float32, [1, 3, 9, 8], -2...2, &source.random)])
  }

  @Test func quantizedConvolutionBecomesOneNode() throws {
    let (graph, inputs) = try convolution()
    let result = try Pipeline.standard(evaluator).run(graph).graph
    #expect(result.nodes.map(\.op.name) == ["quantize", "convolution_integer", "dequantize"])
    let node = result.nodes[1]
    let requantization = try #require((node.op as? ConvolutionInteger)?.requantization)
    #expect(requantization == Requantization(.uint8, lower: 5, upper: 120))
    #expect(Set(node.origins.map(\.name)) == ["conv", "x.dq", "w.dq", "b.dq", "clip", "y.q"])
    #expect(node.origins.first?.name == "conv")

    let fromBody = try reference.run(result, inputs).outputs[0]
    var bare = result
    bare.nodes[1].body = nil
    #expect(node.body != nil)
    #expect(try reference.run(bare, inputs).outputs[0].floats == fromBody.floats, "the body is the operator")
    let before = try reference.run(graph, inputs).outputs[0]
    #expect(Tolerance(relative: 0, absolute: 1.01 / 115).difference(of: fromBody, from: before) == nil)
    #expect(Set(fromBody.floats).count > 20)
  }

  @Test func resultReadBeforeQuantizationStaysFloat() throws {
    let (graph, inputs) = try convolution(readsSums: true)
    let result = try Pipeline.standard(evaluator).run(graph).graph
    #expect(result.nodes.contains { $0.op is Convolution })
    #expect(!result.nodes.contains { $0.op is ConvolutionInteger })
    let (before, after) = (try reference.run(graph, inputs).outputs, try reference.run(result, inputs).outputs)
    #expect(Tolerance(relative: 1e-5, absolute: 1e-5).difference(of: after[1], from: before[1]) == nil)
  }

  @Test(arguments: [0.02, 0.03]) func poolingRunsOnBytesWhenScalesAreEqual(scale: Double) throws {
    var source = Source(evaluator)
    let x = try source.builder.input("x", TensorType(.uint8, [1, 2, 6, 6]))
    let real = try source.dequantize(x, 0.02, 7, "x.dq")
    let pooled = try source.add(Pool(.maximum, window: Window(kernel: [2, 2])), [real], "pool")
    let y = try source.quantize(pooled, scale, 7, "y.q")
    source.builder.output(y)
    let graph = try source.builder.finish()
    let result = try Pipeline.standard(evaluator).run(graph).graph
    #expect(result.nodes.map(\.op.name) == (scale == 0.02 ? ["pool"] : ["dequantize", "pool", "quantize"]))
    let inputs = [Tensor.random(.uint8, [1, 2, 6, 6], 0...255, &source.random)]
    #expect(try reference.run(result, inputs).outputs[0].floats == (try reference.run(graph, inputs).outputs[0].floats))
  }

  @Test func dequantizedWeightsStayCompressed() throws {
    var source = Source(evaluator)
    let x = try source.builder.input("x", TensorType(.float32, [4, 32]))
    let weights = try source.dequantize(source.bytes("w", .uint8, [16, 32]), 0.01, 120, "w.dq")
    source.builder.output(try source.add(Linear(), [x, weights], "linear"))
    let graph = try source.builder.finish()
    let result = try Pipeline.standard(evaluator).run(graph).graph
    #expect(result.nodes.map(\.op.name) == ["linear"])
    let weight = try #require(result[result.nodes[0].inputs[1]].weight)
    #expect(weight.isCompressed && weight.storedByteCount < 16 * 32 * 2)
    let inputs = [Tensor.random(.float32, [4, 32], -1...1, &source.random)]
    let (before, after) = (try reference.run(graph, inputs).outputs[0], try reference.run(result, inputs).outputs[0])
    #expect(Tolerance(relative: 1e-6, absolute: 1e-6).difference(of: after, from: before) == nil)
  }

  private func dynamicProduct(
    _ example: inout ExampleBuilder, scaledBy other: ValueID? = nil
  ) throws -> (result: ValueID, sums: ValueID) {
    var rows = try example.quantizeDynamically("x", try example.input("x", [2, 3, 7]))
    if let other { rows.scale = try example.quantizeDynamically("other", other).scale }
    return try example.dynamicProduct(
      "product", rows, example.integers("weights", .int8, [7, 5], -128...127),
      example.weight("scales", [5], 0.001...0.02), example.integers("zeros", .int8, [5], -9...9))
  }

  /// The pass matches the operators that `LinearInteger` states as its body.
  @Test func dynamicProductBecomesOneLayerWithItsEpilogue() throws {
    var example = ExampleBuilder()
    let residual = try example.input("residual", [2, 3, 5])
    let (result, _) = try dynamicProduct(&example)
    let biased = try example.add("biased", Binary(.add), example.weight("bias", [5]), result)
    let sum = try example.add("sum", Binary(.add), residual, biased)
    let made = try example.returning(example.add("relu", Unary(.relu), sum))
    let graph = try Pipeline.standard(evaluator).run(made.graph).graph
    #expect(graph.nodes.map(\.op.name) == ["linear_integer"])
    let epilogue = Epilogue(hasBias: true, addsResidual: true, activation: .relu)
    #expect(graph.nodes[0].op as? LinearInteger == LinearInteger(epilogue: epilogue))
    let origins = Set(graph.nodes[0].origins.map(\.name))
    #expect(origins.isSuperset(of: ["product.sums", "x.largest", "x.integers", "product", "biased", "sum", "relu"]))
    let (before, after) = (try reference.run(made.graph, made.inputs), try reference.run(graph, made.inputs))
    #expect(before.outputs[0].floats == after.outputs[0].floats)
  }

  @Test func dynamicProductWithOtherReadersOrScalesStays() throws {
    var example = ExampleBuilder()
    let (result, sums) = try dynamicProduct(&example)
    var other = ExampleBuilder()
    let input = try other.input("y", [2, 3, 7])
    let (scaled, _) = try dynamicProduct(&other, scaledBy: input)
    for made in [try example.returning(result, sums), try other.returning(scaled)] {
      let graph = try Pipeline.standard(evaluator).run(made.graph).graph
      #expect(graph.nodes.contains { $0.op is MatMulInteger } && !graph.nodes.contains { $0.op is LinearInteger })
    }
  }
}
