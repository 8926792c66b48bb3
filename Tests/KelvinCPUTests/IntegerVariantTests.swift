import ConformanceChecks
import KelvinBasics
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Integer products of every instruction set on random shapes: equal to the reference, element for element.
@Suite struct IntegerVariantTests {
  private var types: [ScalarType] { [.uint8, .int8] }

  private func bytes(_ scalar: ScalarType, _ shape: Shape, _ random: inout SeededGenerator) -> Tensor {
    let lower = scalar == .uint8 ? 0.0 : -128
    return Tensor(
      TensorType(scalar, shape), rounding: (0..<shape.count).map { _ in lower + Double(random.next() % 256) })
  }

  /// Runs `op` on x with weights and zero points that are part of the model.
  private func check(_ op: any Operator, _ x: Tensor, _ constants: [Tensor], threads: Int, _ place: String) throws {
    var graph = Graph()
    var ids = [graph.addValue(Value(name: "x", type: x.type))]
    graph.inputs = ids
    for (index, tensor) in constants.enumerated() {
      ids.append(graph.addValue(Value(name: "w\(index)", type: tensor.type, weight: Weight(tensor))))
    }
    let output = graph.addValue(Value(name: "y", type: try op.infer(graph.types(ids))[0]))
    graph.nodes = [Node(name: "node", op: op, inputs: ids, outputs: [output], origins: [])]
    graph.outputs = [output]
    let expected = try ReferenceDevice().run(graph, [x]).outputs[0]
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      for (prefersBlocks, tiles) in [(false, false), (true, false), (false, true), (true, true)] {
        let device = CPUDevice(variant: variant, prefersBlocks: prefersBlocks, emulatesTiles: tiles)
        let actual = try device.run(graph, [x], threads: threads).outputs[0]
        #expect(
          actual.doubles == expected.doubles, "\(name) blocks \(prefersBlocks) tiles \(tiles) \(place): \(graph)")
      }
    }
  }

  /// Integers again: with bounds, sometimes by scales so large that sums leave int32.
  @Test(arguments: Tier.seeds(20, of: 120)) func requantizedConvolutionsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let kernel = [pick([1, 1, 2, 3, 5, 8]), pick([1, 1, 2, 3, 5])]
    let dilations = [pick([1, 1, 2]), pick([1, 1, 3])]
    let window = Window(
      kernel: kernel, strides: [pick([1, 2, 3]), pick([1, 1, 2, 2, 3])], dilations: dilations,
      before: [pick([0, 1, 2]), pick([0, 1, 3])], after: [pick([0, 1, 2]), pick([0, 1, 2])])
    let isDepthwise = pick([0, 1]) == 1
    let channels = pick([1, 3, 4, 7, 16, 17, 33, 48])
    let filters = isDepthwise ? channels : pick([1, 7, 16, 31, 40, 64])
    let size = [0, 1].map { (kernel[$0] - 1) * dilations[$0] + pick([1, 4, 13, 16, 37]) }
    let x = bytes(types[pick([0, 1])], Shape([pick([1, 2]), channels] + size), &random)
    let scalar = types[pick([0, 1])]
    let isCentred = pick([0, 1, 2]) > 0
    let weights = bytes(scalar, Shape([filters, isDepthwise ? 1 : channels] + kernel), &random)
    let weightsZero =
      isCentred
      ? Tensor(TensorType(scalar, []), rounding: [scalar == .int8 ? 0 : 128])
      : bytes(scalar, pick([0, 1]) == 0 ? [] : [filters], &random)
    let output = types[pick([0, 1])]
    let lowest = output == .uint8 ? 0 : -128
    let requantization = Requantization(
      output, lower: lowest + pick([0, 0, 9]), upper: lowest + 255 - pick([0, 0, 30]))
    let depth = Double(weights.type.count / filters)
    let largest = pick([0, 0, 0, 1]) == 0 ? 1.0 : 3e5
    let scales = (0..<pick([1, filters])).map { _ in
      largest * Double(random.next() % 1000 + 1) / 1e6 / depth.squareRoot()
    }
    let bias = Tensor(
      TensorType(.int32, [filters]), rounding: (0..<filters).map { _ in Double(random.next() % 20000) - 10000 })
    try check(
      ConvolutionInteger(window: window, groups: isDepthwise ? channels : 1, requantization: requantization), x,
      [
        weights, bytes(x.type.scalar, [], &random), weightsZero, bias,
        Tensor(TensorType(.float32, scales.count == 1 ? [] : [filters]), rounding: scales),
        bytes(output, [], &random),
      ],
      threads: pick([1, 2, 3]), "seed \(seed)")
  }

  @Test(arguments: Tier.seeds(20, of: 60)) func convolutionsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let kernel = [pick([1, 2, 3, 5]), pick([1, 2, 3, 5])]
    let dilations = [pick([1, 1, 2]), pick([1, 1, 3])]
    let window = Window(
      kernel: kernel, strides: [pick([1, 2, 3]), pick([1, 2, 3])], dilations: dilations,
      before: [pick([0, 1, 2]), pick([0, 1, 3])], after: [pick([0, 1, 2]), pick([0, 1, 2])])
    let groups = pick([1, 1, 2, 5])
    let isDepthwise = pick([0, 1]) == 1
    let (channels, filters) =
      isDepthwise ? (groups, 2 * groups) : (groups * pick([1, 3, 9]), groups * pick([1, 7, 13]))
    let size = [0, 1].map { (kernel[$0] - 1) * dilations[$0] + pick([1, 4, 13, 16, 37, 70]) }
    let x = bytes(types[pick([0, 1])], Shape([pick([1, 2]), channels] + size), &random)
    let scalar = types[pick([0, 1])]
    let weights = bytes(scalar, Shape([filters, channels / groups] + kernel), &random)
    try check(
      ConvolutionInteger(window: window, groups: groups), x,
      [weights, bytes(x.type.scalar, [], &random), bytes(scalar, pick([0, 1]) == 0 ? [] : [filters], &random)],
      threads: pick([1, 2, 3]), "seed \(seed)")
  }

  @Test(arguments: Tier.seeds(20, of: 40)) func matrixProductsMatchTheReference(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let sizes = [1, 2, 3, 5, 6, 7, 15, 16, 17, 31, 33, 63, 65, 130]
    let (rows, depth, columns) = (pick(sizes), pick(sizes), pick(sizes))
    let transposes = pick([0, 1]) == 1
    let x = bytes(types[pick([0, 1])], pick([0, 1]) == 0 ? [rows, depth] : [2, rows, depth], &random)
    let scalar = types[pick([0, 1])]
    let y = bytes(scalar, transposes ? [columns, depth] : [depth, columns], &random)
    try check(
      MatMulInteger(transposesY: transposes), x,
      [y, bytes(x.type.scalar, [], &random), bytes(scalar, pick([0, 1]) == 0 ? [] : [columns], &random)],
      threads: pick([1, 2, 3]), "seed \(seed)")
  }

  /// Rows are quantized by ranges of any sign. Bias, residual and clip round like separate operators.
  @Test(arguments: Tier.seeds(20, of: 80)) func dynamicLayersEqualTheirBodies(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func pick(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 1 }
    let sizes = [1, 2, 3, 5, 6, 7, 15, 16, 17, 31, 33, 63, 65, 130]
    let (rows, depth, columns) = (pick(sizes), pick(sizes), pick(sizes))
    let ranges: [ClosedRange<Float>] = [-1...1, -9...2, 3...5, -0.2 ... -0.1, -3e-3...4, -1e30...1e29]
    let shape: Shape = pick([0, 1]) == 0 ? [rows, depth] : [2, rows, depth]
    let x = Tensor.random(.float32, shape, ranges[pick(Array(ranges.indices))], &random)
    let scalar = types[pick([0, 1])]
    let parameters: Shape = pick([0, 1]) == 0 ? [] : [columns]
    var weights = [
      bytes(scalar, [columns, depth], &random), .random(.float32, parameters, 1e-4...1e-2, &random),
      bytes(scalar, parameters, &random),
    ]
    let epilogue = Epilogue(
      hasBias: pick([0, 1]) == 1, addsResidual: pick([0, 1]) == 1,
      activation: pick([0, 1]) == 1 ? .clip(-0.5, 0.75) : nil)
    if epilogue.hasBias { weights.append(.random(.float32, [columns], -1...1, &random)) }
    let result = Shape(shape.dimensions.dropLast() + [columns])
    let residual = epilogue.addsResidual ? [Tensor.random(.float32, result, -1...1, &random)] : []
    let (graph, inputs) = try oneNode(LinearInteger(epilogue: epilogue), x, weights: weights, inputs: residual)
    let expected = try ReferenceDevice().run(graph, inputs).outputs[0]
    for (variant, name) in CPUDevice.variantNames.enumerated() {
      for tiles in [false, true] {
        let device = CPUDevice(variant: variant, emulatesTiles: tiles)
        let actual = try device.run(graph, inputs, threads: pick([1, 2, 3])).outputs[0]
        #expect(actual.floats == expected.floats, "\(name), tiles \(tiles), seed \(seed): \(graph)")
      }
    }
    guard !epilogue.isFused else { return }
    let evaluated = try ReferenceEvaluator().evaluate(graph.nodes[0].op, [x] + weights)[0]
    #expect(evaluated.floats == expected.floats, "the body is the operator, seed \(seed)")
  }
}
