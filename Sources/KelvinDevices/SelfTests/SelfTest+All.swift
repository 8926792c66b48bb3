import KelvinGraph

extension SelfTest {
  private typealias Example<Op> = (Op, [NodeExample.Operand])

  /// One self-test for each kind of kernel. The examples use few kernels, since each one is compiled at a first
  /// start.
  package static let all: [SelfTest] =
    (products + staged + lines + elements + moving + indexing).flatMap { test in
      // Devices with kernels of their own for low precision store float16.
      (test.precision == .low ? [] : [test.of(.float32)]) + [test.of(.float16)]
    } + narrow + integers

  /// - Parameter nodesUse: the implementation of the nodes on devices that have it, if the test covers all of them.
  private init<Op: Operator>(
    _ type: Op.Type, named name: String = Op.name, implementation: String? = nil, at precision: Precision = .full,
    nodesUse: String? = nil,
    where covers: @escaping @Sendable (Op, [TensorType]) -> Bool = { _, _ in true },
    _ nodes: Example<Op>...
  ) {
    self.init(
      name: name, implementation: implementation, precision: precision, operators: [type],
      covers: { op, operands in (op as? Op).map { covers($0, operands) } ?? false },
      nodes: nodes.map { Entry(op: $0.0, operands: $0.1, implementation: nodesUse) })
  }

  private static func convolution(
    _ input: Shape, filters: Int, kernel: Int, stride: Int = 1, groups: Int = 1
  ) -> Example<Convolution> {
    convolution(.input(input), .weight([filters, input[1] / groups, kernel, kernel]), stride: stride, groups: groups)
  }

  private static func convolution(
    _ input: NodeExample.Operand, _ weights: NodeExample.Operand, stride: Int = 1, groups: Int = 1
  ) -> Example<Convolution> {
    let shape = weights.type.shape
    let kernel = [shape[2], shape[3]]
    let border = kernel.map { $0 / 2 }
    let window = Window(kernel: kernel, strides: [stride, stride], before: border, after: border)
    return (
      Convolution(window: window, groups: groups, epilogue: .bias), [input, weights, .weight([shape[0]])]
    )
  }

  private static func isDepthwise(_ op: Convolution, _ operands: [TensorType]) -> Bool {
    op.window.rank <= 2 && op.groups > 1 && operands[1].shape[1] == 1
  }

  private static func isDepthwise(_ op: ConvolutionTranspose, _ operands: [TensorType]) -> Bool {
    op.window.rank <= 2 && op.groups > 1 && op.groups == operands[0].shape[1] && operands[1].shape[1] == 1
  }

  /// Whether the convolution is a matrix-vector product.
  private static func isOfOnePosition(_ op: Convolution, _ operands: [TensorType]) -> Bool {
    op.groups == 1 && (operands[0].shape.dimensions + op.window.kernel).dropFirst(2).allSatisfy { $0 == 1 }
  }

  private static let products: [SelfTest] = [
    // Smaller products have no tiled kernels.
    SelfTest(
      Convolution.self, nodesUse: "tiles", where: { $0.window.rank <= 2 && !isDepthwise($0, $1) },
      convolution([1, 20, 6, 7], filters: 24, kernel: 1), convolution([1, 8, 7, 6], filters: 12, kernel: 3),
      convolution(.input([1, 20, 6, 7]), .multiples([24, 20, 1, 1]))),
    SelfTest(
      Convolution.self, named: "convolution of one position", where: isOfOnePosition,
      convolution([1, 24, 1, 1], filters: 20, kernel: 1),
      convolution(.input([1, 24, 1, 1]), .multiples([20, 24, 1, 1]))),
    SelfTest(
      Convolution.self, named: "convolution of unfolded windows", implementation: "unfolded",
      (
        Convolution(window: Window(kernel: [4, 4], strides: [4, 4]), groups: 1, epilogue: .bias),
        [.input([1, 3, 9, 12]), .weight([36, 3, 4, 4]), .weight([36])]
      ),
      // So deep that groups of a GPU share the depth.
      (
        Convolution(window: Window(kernel: [14, 14], strides: [14, 14]), groups: 1, epilogue: .bias),
        [.input([1, 3, 14, 28]), .weight([12, 3, 14, 14]), .weight([12])]
      )),
    SelfTest(Convolution.self, named: "convolution output by output", implementation: "general", grouped),
    SelfTest(Convolution.self, named: "convolution of planes", implementation: "planes", grouped),
    SelfTest(
      Convolution.self, named: "convolution of planes to blocks", implementation: "planes to blocks",
      convolution([1, 2, 6, 7], filters: 20, kernel: 3)),
    SelfTest(
      Convolution.self, named: "convolution by rectangles", implementation: "rectangles",
      convolution([2, 12, 9, 19], filters: 36, kernel: 3),
      convolution([1, 5, 21, 37], filters: 20, kernel: 5, stride: 2)),
    SelfTest(
      Convolution.self, named: "convolution by Winograd's tiles", implementation: "winograd",
      convolution([1, 176, 18, 15], filters: 176, kernel: 3),
      // Sums above 2^32 are computed directly, without Winograd's transform.
      convolution(.number(0x1p15, [1, 176, 18, 15]), .number(0x1p15, [176, 176, 3, 3]))),
    SelfTest(
      Convolution.self, named: "convolution by Winograd's large tiles", implementation: "winograd-4", at: .low,
      convolution([1, 20, 9, 10], filters: 36, kernel: 3),
      convolution(.uniform(0x1p15, [1, 20, 9, 10]), .number(0x1p15, [36, 20, 3, 3]))),
    SelfTest(
      Convolution.self, named: "depthwise convolution", where: isDepthwise,
      convolution([1, 18, 10, 9], filters: 18, kernel: 3, groups: 18)),
    SelfTest(
      Convolution.self, named: "convolution over three axes", where: { op, _ in op.window.rank > 2 },
      (
        Convolution(window: Window(kernel: [2, 2, 2]), groups: 1, epilogue: .bias),
        [.input([1, 3, 3, 4, 5]), .weight([5, 3, 2, 2, 2]), .weight([5])]
      )),
    SelfTest(
      ConvolutionTranspose.self, named: "convolution_transpose over three axes",
      where: { op, _ in op.window.rank > 2 },
      (
        ConvolutionTranspose(window: Window(kernel: [2, 2, 2], strides: [2, 2, 2])),
        [.input([1, 3, 2, 3, 2]), .weight([3, 5, 2, 2, 2])]
      )),
    SelfTest(
      ConvolutionTranspose.self, named: "depthwise convolution_transpose", where: isDepthwise,
      (
        ConvolutionTranspose(window: Window(kernel: [2, 2], strides: [2, 2]), groups: 6),
        [.input([1, 6, 3, 4]), .weight([6, 1, 2, 2])]
      )),
    SelfTest(
      ConvolutionTranspose.self, named: "convolution_transpose output by output", implementation: "general",
      (
        ConvolutionTranspose(window: Window(kernel: [3, 3], strides: [2, 2]), groups: 2),
        [.input([1, 4, 3, 4]), .weight([4, 3, 3, 3])]
      )),
    SelfTest(
      ConvolutionTranspose.self, nodesUse: "tiles", where: { $0.window.rank <= 2 && !isDepthwise($0, $1) },
      (
        ConvolutionTranspose(window: Window(kernel: [2, 2], strides: [2, 2])),
        [.input([1, 5, 3, 4]), .weight([5, 6, 2, 2])]
      )),
    SelfTest(
      Linear.self, nodesUse: "dense",
      (Linear(epilogue: .bias), [.input([1, 24]), .weight([20, 24]), .weight([20])]),
      // So deep that wide groups share the depth.
      (Linear(epilogue: .bias), [.input([1, 1040]), .weight([20, 1040]), .weight([20])]),
      // Enough rows for the tiles of a GPU.
      (Linear(epilogue: .bias), [.input([67, 24]), .weight([36, 24]), .weight([36])]),
      (Linear(epilogue: .bias), [.input([1, 24]), .multiples([20, 24]), .weight([20])]),
      (Linear(epilogue: .bias), [.input([67, 24]), .entries([36, 24]), .weight([36])])),
    SelfTest(MatMul.self, (MatMul(), [.input([2, 9, 13]), .input([2, 13, 35])])),
    SelfTest(
      Attention.self, nodesUse: "dense",
      (
        Attention(
          batch: 1, heads: 2, queries: 9, keys: 21, width: 8, valueWidth: 8, scale: 0.5, query: [0, 0, 72, 8, 1],
          key: [0, 0, 168, 8, 1], value: [0, 0, 168, 8, 1], shape: [2, 9, 8], result: [0, 72, 8]),
        [.input([2, 9, 8]), .input([2, 21, 8]), .input([2, 21, 8])]
      ),
      // Strided elements, and rows that do not fill vectors.
      (
        Attention(
          batch: 1, heads: 2, queries: 5, keys: 13, width: 6, valueWidth: 5, scale: 0.5, query: [0, 0, 30, 6, 1],
          key: [0, 0, 78, 1, 13], value: [0, 0, 65, 5, 1], shape: [2, 5, 5], result: [0, 25, 5]),
        [.input([2, 5, 6]), .input([2, 6, 13]), .input([2, 13, 5])]
      )),
    SelfTest(
      Attention.self, named: "attention of one query", implementation: "rows",
      (
        Attention(
          batch: 1, heads: 2, queries: 1, keys: 131, width: 8, valueWidth: 20, scale: 0.5, query: [0, 0, 8, 8, 1],
          key: [0, 0, 1048, 8, 1], value: [0, 0, 2620, 20, 1], shape: [2, 20], result: [0, 20, 20]),
        [.input([2, 8]), .input([2, 131, 8]), .input([2, 131, 20])]
      ),
      (
        Attention(
          batch: 1, heads: 2, queries: 1, keys: 131, width: 8, valueWidth: 20, scale: 0.5, sharing: 2,
          hasLengths: true, lastKey: -1, query: [0, 0, 8, 8, 1], key: [0, 0, 0, 8, 1], value: [0, 0, 0, 20, 1],
          shape: [2, 20], result: [0, 20, 20]),
        [.input([2, 8]), .input([131, 8]), .input([131, 20]), .number(97, [1], .int32)]
      ),
      // So many keys that groups share them. Neighbouring keys overlap.
      attentionOfManyKeys(hasLengths: false), attentionOfManyKeys(hasLengths: true)),
    // The last one has so many keys that groups share them.
    SelfTest(
      Attention.self, named: "attention by staged slabs", implementation: "staged",
      (
        Attention(
          batch: 1, heads: 2, queries: 37, keys: 67, width: 24, valueWidth: 20, scale: 0.3, hasMask: true, sharing: 2,
          query: [0, 0, 24, 48, 1], key: [0, 0, 0, 24, 1], value: [0, 0, 0, 20, 1], shape: [37, 40],
          result: [0, 20, 40]),
        [.input([37, 48]), .input([67, 24]), .input([67, 20]), .input([1, 67])]
      ),
      (
        Attention(
          batch: 1, heads: 1, queries: 9, keys: 600, width: 8, valueWidth: 8, scale: 0.3, query: [0, 0, 0, 8, 1],
          key: [0, 0, 0, 8, 1], value: [0, 0, 0, 8, 1], shape: [9, 8], result: [0, 0, 8]),
        [.input([9, 8]), .input([600, 8]), .input([600, 8])]
      )),
    SelfTest(
      NormalizedLinear.self,
      (
        NormalizedLinear(epsilon: 1e-5, parameters: 2, epilogue: .bias),
        [.input([1, 520]), .weight([9, 520]), .weight([520]), .weight([520]), .weight([9])]
      ),
      // So deep that wide groups share the depth.
      (
        NormalizedLinear(epsilon: 1e-5, parameters: 2, epilogue: .bias),
        [.input([1, 1040]), .weight([9, 1040]), .weight([1040]), .weight([1040]), .weight([9])]
      )),
    SelfTest(
      UpdateCache.self,
      (
        UpdateCache(
          batch: 1, heads: 2, rows: 1, width: 20, valueWidth: 20, firstRow: 0, key: [0, 0, 20, 0, 1],
          value: [40, 0, 20, 0, 1]),
        [
          .input([1, 2, 7, 20]), .input([1, 2, 7, 20]), .input([1, 80]), .input([1, 80]), .number(5, [1], .int32),
        ]
      ),
      // Caches of different widths.
      (
        UpdateCache(
          batch: 1, heads: 2, rows: 2, width: 12, valueWidth: 20, firstRow: -1, key: [0, 0, 12, 24, 1],
          value: [0, 0, 20, 40, 1]),
        [
          .input([1, 2, 7, 12]), .input([1, 2, 7, 20]), .input([2, 24]), .input([2, 40]), .number(5, [1], .int32),
        ]
      )),
  ]

  /// Tests of implementations that stage tiles in local memory. The last nodes are so deep that groups share the depth.
  private static let staged: [SelfTest] = [
    ("staged tiles", "staged", Precision.full), ("staged tiles in float16", "staged in float16", .low),
    ("cooperative matrices", "cooperative", .full),
  ].flatMap { name, implementation, precision in
    [
      SelfTest(
        Convolution.self, named: "convolution by \(name)", implementation: implementation, at: precision,
        convolution([1, 20, 6, 7], filters: 24, kernel: 1), convolution([1, 12, 9, 10], filters: 36, kernel: 3),
        convolution([1, 116, 4, 5], filters: 20, kernel: 3)),
      SelfTest(
        ConvolutionTranspose.self, named: "convolution_transpose by \(name)", implementation: implementation,
        at: precision,
        (
          ConvolutionTranspose(window: Window(kernel: [3, 3], strides: [2, 2], before: [1, 0])),
          [.input([1, 12, 5, 4]), .weight([12, 20, 3, 3])]
        )),
      SelfTest(
        Linear.self, named: "linear by \(name)", implementation: implementation, at: precision,
        (Linear(epilogue: .bias), [.input([67, 24]), .weight([36, 24]), .weight([36])]),
        (Linear(epilogue: .bias), [.input([19, 1088]), .weight([36, 1088]), .weight([36])])),
    ]
  }

  /// A convolution in groups that do not fill a block.
  private static let grouped = convolution([1, 6, 4, 5], filters: 4, kernel: 3, groups: 2)

  private static let row: Shape = [3, 37]

  /// A row that a GPU reduces in two parts.
  private static let longRow: Shape = [2, 2100]

  private static let lines: [SelfTest] = [
    SelfTest(Softmax.self, (Softmax(axis: 1), [.input([2, 29])]), (Softmax(axis: 1), [.input([2, 5, 3])])),
    SelfTest(
      Softmax.self, named: "softmax in blocks", implementation: "blocks", (Softmax(axis: 1), [.input([2, 21, 3])])),
    SelfTest(
      Softmax.self, named: "softmax by groups", implementation: "groups", (Softmax(axis: 1), [.input(row)]),
      (Softmax(axis: 1), [.input(longRow)])),
    SelfTest(
      Softmax.self, named: "softmax by groups in blocks", implementation: "groups in blocks",
      (Softmax(axis: 1), [.input([1, 37, 3])]), (Softmax(axis: 1), [.input([1, 2099, 2])])),
    SelfTest(
      LayerNormalization.self,
      (LayerNormalization(axis: 1, epsilon: 1e-3), [.input([3, 36]), .weight([36]), .weight([36])]),
      (LayerNormalization(axis: 1, epsilon: 1e-3), [.input([19, 36]), .weight([36]), .weight([36])]),
      (LayerNormalization(axis: 1, epsilon: 1e-3), [.input(longRow)])),
    SelfTest(
      LayerNormalization.self, named: "layer_normalization in blocks", implementation: "blocks",
      (LayerNormalization(axis: 2, epsilon: 1e-3), [.input([1, 40, 5])])),
    SelfTest(
      BatchNormalization.self,
      (
        BatchNormalization(epsilon: 1e-3),
        [.input([1, 5, 23]), .weight([5]), .weight([5]), .weight([5]), .number(2, [5])]
      )),
    SelfTest(
      LocalResponseNormalization.self,
      (LocalResponseNormalization(size: 3, alpha: 0.5, beta: 0.75, k: 1), [.input([1, 7, 3, 9])])),
    SelfTest(
      Reduce.self, where: { _, operands in operands[0].scalar.isFloatingPoint },
      (Reduce(.sum, axes: [1], keepsDimensions: false), [.input([2, 29])]),
      (Reduce(.sum, axes: [1], keepsDimensions: false), [.input([2, 5, 3])]),
      (Reduce(.mean, axes: [2, 3], keepsDimensions: false), [.input([2, 9, 3, 5])])),
    SelfTest(
      Reduce.self, named: "reduce by groups", implementation: "groups",
      where: { _, operands in operands[0].scalar.isFloatingPoint },
      (Reduce(.sum, axes: [1], keepsDimensions: false), [.input(row)]),
      (Reduce(.maximum, axes: [1], keepsDimensions: false), [.input(longRow)])),
    SelfTest(
      Reduce.self, named: "reduce by groups in blocks", implementation: "groups in blocks",
      where: { _, operands in operands[0].scalar.isFloatingPoint },
      (Reduce(.mean, axes: [2, 3], keepsDimensions: false), [.input([1, 9, 5, 8])]),
      (Reduce(.maximum, axes: [1], keepsDimensions: false), [.input([1, 2099, 2])])),
    SelfTest(
      CumulativeReduce.self, (CumulativeReduce(.sum, axis: 1), [.input([3, 9])])),
    SelfTest(
      CumulativeReduce.self, named: "cumulative_reduce by groups", implementation: "groups",
      where: { op, operands in op.function == .sum && operands[0].scalar.isFloatingPoint },
      (CumulativeReduce(.sum, axis: 1, isExclusive: true), [.input(row)]),
      (CumulativeReduce(.sum, axis: 1, isReversed: true), [.input(longRow)])),
    SelfTest(
      ArgReduce.self, (ArgReduce(.maximum, axis: 1, keepsDimensions: false, scalar: .int32), [.input([2, 29])])),
    SelfTest(
      ArgReduce.self, named: "arg_reduce by groups", implementation: "groups",
      where: { _, operands in operands[0].scalar.isFloatingPoint },
      (ArgReduce(.minimum, axis: 1, keepsDimensions: false, scalar: .int64), [.input(row)]),
      (ArgReduce(.maximum, axis: 1, keepsDimensions: false, scalar: .int32), [.input(longRow)])),
    SelfTest(
      TopK.self, (TopK(axis: 1, count: 3, takesLargest: true, scalar: .int32), [.input([2, 11])]),
      (TopK(axis: 1, count: 3, takesLargest: true, scalar: .int32), [.input([2, 150])])),
    SelfTest(
      Pool.self, where: { op, operands in operands[0].scalar.isFloatingPoint && op.window.rank <= 2 },
      (Pool(.maximum, window: poolWindow), [.input([1, 18, 6, 9])]),
      (Pool(.average, window: poolWindow), [.input([1, 18, 6, 9])])),
    SelfTest(
      Pool.self, named: "pool over three axes",
      where: { op, operands in operands[0].scalar.isFloatingPoint && op.window.rank > 2 },
      (Pool(.maximum, window: Window(kernel: [2, 2, 2], strides: [2, 2, 2])), [.input([1, 3, 4, 2, 6])]),
      (Pool(.average, window: Window(kernel: [2, 2, 2], strides: [2, 2, 2])), [.input([1, 3, 4, 2, 6])])),
    SelfTest(Resize.self, resized),
    SelfTest(Resize.self, named: "resize in blocks", implementation: "blocks", resized),
  ]

  private static let resized: Example<Resize> = (
    Resize(axes: [2, 3].map { ResizeAxis(axis: $0, size: 7, scale: 0.6, offset: -0.2) }, interpolation: .linear),
    [.input([1, 2, 4, 5])]
  )

  private static func attentionOfManyKeys(hasLengths: Bool) -> Example<Attention> {
    let keys = 4100
    let overlapping = 4 * (keys - 1) + 64
    return (
      Attention(
        batch: 1, heads: 1, queries: 1, keys: keys, width: 64, valueWidth: 64, scale: 0.2, hasLengths: hasLengths,
        query: [0, 0, 0, 64, 1], key: [0, 0, 0, 4, 1], value: [0, 0, 0, 4, 1], shape: [1, 64], result: [0, 0, 64]),
      [.input([1, 64]), .input([overlapping]), .input([overlapping])] + (hasLengths ? [.number(3333, [1], .int32)] : [])
    )
  }

  private static let poolWindow = Window(kernel: [3, 3], strides: [2, 2], before: [1, 1], after: [1, 1])

  private static let elements: [SelfTest] = [
    SelfTest(
      name: Unary.name, operators: [Convolution.self, Linear.self, NormalizedLinear.self, Unary.self],
      covers: takesUnary,
      nodes: [Entry(op: Unary(.relu), operands: [.input(row)])]),
    SelfTest(
      Binary.self, where: { _, operands in operands[0].scalar.isFloatingPoint },
      (Binary(.add), [.input(row), .input(row)]), (Binary(.multiply), [.input(row), .input([37])])),
    SelfTest(Compare.self, (Compare(.less), [.input(row), .input(row)])),
    SelfTest(Select.self, (Select(), [.input(row, .bool), .input(row), .input(row)])),
    SelfTest(Cast.self, (Cast(.int32), [.input(row)])),
  ]

  /// Whether an elementwise kernel computes the node, or may apply the activation after a product kernel.
  private static func takesUnary(_ op: any Operator, _ operands: [TensorType]) -> Bool {
    func isLeft(_ activation: UnaryFunction?) -> Bool {
      switch activation?.kind {
      case nil, .relu, .clip: false
      default: true
      }
    }
    return switch op {
    case let op as Convolution: isLeft(op.epilogue.activation) || (op.window.rank > 2 && op.epilogue.activation != nil)
    case let op as Linear: isLeft(op.epilogue.activation)
    case let op as NormalizedLinear: isLeft(op.epilogue.activation)
    default: operands[0].scalar.isFloatingPoint
    }
  }

  /// Tests of operators that only move elements. Results that are also needed in another layout are copied, for any
  /// node.
  private static let moving: [SelfTest] = [
    SelfTest(
      name: "copies", operators: [], covers: { _, _ in true },
      nodes: [Entry(op: Transpose([1, 0]), operands: [.input(row)])]),
    // The node itself moves nothing; converting its operand to blocks and its result back is tested.
    SelfTest(
      name: "blocks", operators: [],
      covers: { _, operands in operands.contains { $0.scalar.isFloatingPoint && $0.shape.rank > 1 } },
      nodes: [Entry(op: Reshape([2, 21, 3, 1]), operands: [.input([2, 21, 3])], implementation: "blocks")]),
    SelfTest(Pad.self, (Pad(before: [1, 0], after: [0, 2], mode: .constant(0.5)), [.input([3, 5])])),
  ]

  /// Tests of types that are stored differently outside of a segment than inside.
  private static let narrow: [SelfTest] = [
    SelfTest(
      name: "narrow integers", operators: [],
      covers: { op, operands in
        (operands + results(op, operands)).contains { !$0.scalar.isFloatingPoint && $0.scalar.byteCount < 4 }
      }, nodes: [Entry(op: Transpose([1, 0]), operands: [.input(row, .uint8)])]),
    // Floating-point results of integer operands may also be stored as float16.
    SelfTest(
      name: "float16", operators: [],
      covers: { op, operands in
        let results = results(op, operands)
        return (operands + results).contains { $0.scalar == .float16 }
          || (!operands.contains { $0.scalar.isFloatingPoint } && results.contains { $0.scalar.isFloatingPoint })
      },
      nodes: [
        Entry(op: Cast(.float16), operands: [.input(row)]),
        Entry(op: Cast(.float32), operands: [.input(row, .float16)]),
      ]),
  ]

  private static func results(_ op: any Operator, _ operands: [TensorType]) -> [TensorType] {
    (try? op.infer(operands)) ?? []
  }

  /// Tests of indexing operators, with axes longer than the largest index.
  private static let indexing: [SelfTest] = [
    SelfTest(Gather.self, (Gather(axis: 0), [.input([18, 5]), .input([7], .int32)])),
    SelfTest(
      Gather.self, named: "gather of codes", implementation: "codes",
      (Gather(axis: 0), [.multiples([18, 5]), .input([7], .int32)]),
      (Gather(axis: 0), [.entries([18, 5]), .input([7], .int32)])),
    SelfTest(GatherElements.self, (GatherElements(axis: 0), [.input([18, 5]), .input([3, 5], .int32)])),
    SelfTest(GatherND.self, (GatherND(), [.input([18, 18]), .input([3, 2], .int32)])),
    SelfTest(
      ScatterElements.self,
      (ScatterElements(axis: 0), [.input([18, 5]), .input([3, 5], .int32), .input([3, 5])])),
    SelfTest(ScatterND.self, (ScatterND(), [.input([18, 5]), .input([3, 1], .int32), .input([3, 5])])),
  ]

  private static let quantized: Example<ConvolutionInteger> = (
    ConvolutionInteger(
      window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1]), requantization: Requantization(.uint8)),
    [
      .input([1, 7, 5, 4], .uint8), .weight([9, 7, 3, 3], .int8), .number(3, [], .uint8), .number(2, [9], .int8),
      .number(5, [9], .int32), .number(0.01, [9]), .number(40, [], .uint8),
    ]
  )

  private static let integers: [SelfTest] = [
    SelfTest(
      name: "integers", operators: [Unary.self, Binary.self, Reduce.self],
      covers: { _, operands in !operands[0].scalar.isFloatingPoint },
      nodes: [
        Entry(op: Binary(.add), operands: [.input([37], .int32), .input([37], .int32)]),
        Entry(op: Unary(.init(.negate)), operands: [.input([37], .int32)]),
        Entry(op: Reduce(.sum, axes: [1], keepsDimensions: false), operands: [.input(row, .int32)]),
      ]),
    SelfTest(RandomUniform.self, (RandomUniform([7]), [.input([4], .uint32)])),
    SelfTest(Quantize.self, (Quantize(scalar: .uint8), [.input([1, 18, 37])] + step)),
    SelfTest(Dequantize.self, (Dequantize(), [.input([1, 18, 37], .uint8)] + step)),
    SelfTest(
      BinaryInteger.self,
      (BinaryInteger(.add), [.input([37], .uint8), .input([37], .uint8)] + step + step + step)),
    SelfTest(
      MatMulInteger.self, nodesUse: "dense",
      (
        MatMulInteger(),
        [.input([9, 13], .uint8), .weight([13, 35], .int8), .number(3, [], .uint8), .number(2, [35], .int8)]
      )),
    SelfTest(ConvolutionInteger.self, nodesUse: "dense", quantized),
    // The second ones are so deep that groups share the depth.
    SelfTest(
      MatMulInteger.self, named: "matmul_integer by staged tiles", implementation: "staged",
      (
        MatMulInteger(),
        [.input([9, 13], .uint8), .weight([13, 35], .int8), .number(3, [], .uint8), .number(2, [35], .int8)]
      ),
      (
        MatMulInteger(),
        [.input([3, 2101], .int8), .weight([2101, 18], .uint8), .number(3, [], .int8), .number(2, [18], .uint8)]
      )),
    SelfTest(
      ConvolutionInteger.self, named: "convolution_integer by staged tiles", implementation: "staged", quantized,
      (
        ConvolutionInteger(window: Window(kernel: [1, 1])),
        [
          .input([1, 2101, 2, 3], .int8), .weight([12, 2101, 1, 1], .uint8), .number(3, [], .int8),
          .number(2, [12], .uint8),
        ]
      )),
    SelfTest(
      ConvolutionInteger.self, named: "convolution_integer of few columns",
      where: { op, operands in operands[1].shape[0] < 8 * op.groups },
      (
        ConvolutionInteger(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1]), groups: 7),
        [.input([1, 7, 5, 4], .uint8), .weight([7, 1, 3, 3], .int8), .number(3, [], .uint8), .number(2, [7], .int8)]
      )),
    SelfTest(
      Pool.self, named: "pool of integers", where: { _, operands in !operands[0].scalar.isFloatingPoint },
      (Pool(.maximum, window: Window(kernel: [3, 3], strides: [2, 2])), [.input([1, 18, 7, 9], .uint8)])),
  ]

  private static let step: [NodeExample.Operand] = [.number(0.5), .number(7, [], .uint8)]
}
