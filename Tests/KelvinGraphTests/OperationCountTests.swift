import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// The values of `Operator.operations`, on which every cost estimate depends: a multiplication and an addition are two.
@Suite struct OperationCountTests {
  struct Example: Sendable, CustomStringConvertible {
    let description: String
    let op: any Operator
    let inputs: [Shape]
    let expected: Double
    var scalar = ScalarType.float32
  }

  /// Counted by hand.
  static let examples: [Example] = {
    let (window, halving) = (
      Window(kernel: [3, 3], before: [1, 1]), Window(kernel: [3, 3], strides: [2, 2], before: [1, 1])
    )
    var fused = Epilogue.bias
    fused.addsResidual = true
    fused.activation = .relu
    return [
      // 8 x 6 x 5 results, each of 4 x 3 x 3 products.
      Example(
        description: "convolution", op: Convolution(window: window), inputs: [[1, 4, 6, 5], [8, 4, 3, 3]],
        expected: 240 * 36 * 2),
      Example(
        description: "convolution, two images", op: Convolution(window: window),
        inputs: [[2, 4, 6, 5], [8, 4, 3, 3]],
        expected: 2 * 240 * 36 * 2),
      // 8 x 3 x 3 results.
      Example(
        description: "convolution, stride 2", op: Convolution(window: halving), inputs: [[1, 4, 6, 5], [8, 4, 3, 3]],
        expected: 72 * 36 * 2),
      // 4 x 6 x 5 results, each of 3 x 3 products.
      Example(
        description: "depthwise convolution", op: Convolution(window: window, groups: 4),
        inputs: [[1, 4, 6, 5], [4, 1, 3, 3]], expected: 120 * 9 * 2),
      // Bias, residual and rectification: one each.
      Example(
        description: "fused convolution", op: Convolution(window: window, epilogue: fused),
        inputs: [[1, 4, 6, 5], [8, 4, 3, 3], [8], [1, 8, 6, 5]], expected: 240 * (36 * 2 + 3)),
      // 2 x 3 x 3 inputs, each in 4 x 2 x 2 products.
      Example(
        description: "transposed convolution", op: ConvolutionTranspose(window: Window(kernel: [2, 2])),
        inputs: [[1, 2, 3, 3], [2, 4, 2, 2]], expected: 18 * 16 * 2),
      // Each of 15 elements is looked at and has two coordinates.
      Example(description: "places of what is not zero", op: NonZero(), inputs: [[3, 5]], expected: 15 * 3),
      // Sixteen slices are sorted in four passes and a last one that finds no two to merge.
      Example(description: "different rows", op: Unique(), inputs: [[16, 3]], expected: 16 * 3 * 5),
      Example(description: "linear", op: Linear(), inputs: [[2, 7], [5, 7]], expected: 10 * 7 * 2),
      Example(
        description: "linear with bias", op: Linear(epilogue: .bias), inputs: [[2, 7], [5, 7], [5]],
        expected: 10 * (7 * 2 + 1)),
      Example(description: "matmul", op: MatMul(), inputs: [[3, 2, 7], [3, 7, 5]], expected: 30 * 7 * 2),
      Example(
        description: "matmul, broadcast and transposed", op: MatMul(transposesX: true, transposesY: true),
        inputs: [[3, 7, 2], [5, 7]], expected: 30 * 7 * 2),
      Example(
        description: "integer matmul", op: MatMulInteger(), inputs: [[2, 7], [7, 5], [], []], expected: 10 * 7 * 2,
        scalar: .uint8),
      Example(
        description: "integer convolution", op: ConvolutionInteger(window: window),
        inputs: [[1, 4, 6, 5], [8, 4, 3, 3], [], []], expected: 240 * 36 * 2, scalar: .uint8),
      // 3 x 2 x 2 results of 4 elements.
      Example(
        description: "pool", op: Pool(.average, window: Window(kernel: [2, 2], strides: [2, 2])),
        inputs: [[1, 3, 4, 4]], expected: 12 * 4),
      Example(
        description: "reduce", op: Reduce(.sum, axes: [1], keepsDimensions: false), inputs: [[2, 3, 4]], expected: 24),
      Example(
        description: "arg reduce", op: ArgReduce(.maximum, axis: 1, keepsDimensions: false), inputs: [[2, 3, 4]],
        expected: 24),
      Example(description: "binary, broadcast", op: Binary(.add), inputs: [[2, 3], [4, 1, 3]], expected: 24),
      Example(description: "relu", op: Unary(.relu), inputs: [[2, 3]], expected: 6),
      Example(description: "affine", op: Unary(UnaryFunction(.affine, a: 2, b: 1)), inputs: [[2, 3]], expected: 12),
      Example(description: "cumulative sum", op: CumulativeReduce(.sum, axis: 1), inputs: [[2, 3]], expected: 6),
      // One multiplication and one addition an element, once scale and shift are joined.
      Example(
        description: "batch normalization", op: BatchNormalization(epsilon: 0), inputs: [[2, 3], [3], [3], [3], [3]],
        expected: 12),
      Example(description: "transpose", op: Transpose([1, 0]), inputs: [[2, 3]], expected: 0),
      Example(description: "reshape", op: Reshape([6]), inputs: [[2, 3]], expected: 0),
    ]
  }()

  @Test(arguments: examples) func operationCountsMatchTheExamples(example: Example) throws {
    let inputs = example.inputs.map { TensorType(example.scalar, $0) }
    #expect(example.op.operations(inputs, try example.op.infer(inputs)) == example.expected)
  }

  @Test func bytesOfCachesAreThoseOfTheNewRows() throws {
    let op = UpdateCache(
      batch: 1, heads: 2, rows: 1, width: 4, valueWidth: 3, firstRow: 0, key: [0, 0, 4, 8, 1], value: [0, 0, 3, 6, 1])
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let inputs = try ([[1, 2, 1024, 4], [1, 2, 1024, 3], [8], [6], [1]] as [Shape]).enumerated().map { place, shape in
      try builder.input("x\(place)", TensorType(place < 4 ? .float32 : .int32, shape))
    }
    let outputs = try builder.add(op, inputs, name: "update", origin: Origin(name: "update", kind: "Test", index: 0))
    for output in outputs { builder.output(output) }
    let graph = try builder.finish()
    // Seven numbers of each head, read and written.
    #expect(graph.work(of: graph.nodes[0]).bytes == 2 * 4 * 14)
  }

  /// Operators that only move, select or convert elements, of any size.
  private static let movers: Set<String> = [
    "cast", "concat", "expand", "gather", "gather_elements", "gather_nd", "pad", "reshape", "slice", "transpose",
  ]

  /// Nearest neighbours are moved; what lies between is computed.
  private static func computes(_ op: any Operator) -> Bool {
    if let resize = op as? Resize { return resize.interpolation == .linear }
    return !movers.contains(op.name)
  }

  @Test func operationCountsAreFiniteAndZeroForMoves() {
    for example in ConformanceCase.all {
      for node in example.graph.nodes {
        let work = example.graph.work(of: node)
        #expect(work.operations.isFinite && work.bytes.isFinite && work.bytes >= 0, "\(example)")
        let hasElements = (node.inputs + node.outputs).allSatisfy { example.graph[$0].type.count > 0 }
        if Self.computes(node.op) {
          #expect(hasElements ? work.operations > 0 : work.operations >= 0, "\(example)")
        } else {
          #expect(work.operations == 0, "\(example)")
        }
      }
    }
  }
}
