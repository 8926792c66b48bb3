import KelvinGraph

/// Tensors of about a thousand elements and more, along every axis that a node can be split along. Devices whose
/// kernels support fewer elements compute these in parts (`partsFaults`).
extension ConformanceCase {
  package static let manyElements: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        many("vector", Unary(.sigmoid), .input([1021]), scalar: scalar),
        many("rows", Binary(.add), .input([3, 11, 67]), .input([11, 67]), scalar: scalar),
        many("blocks", Binary(.multiply), .input([1, 24, 9, 9]), .weight([24, 1, 1]), scalar: scalar),
        many("rows", Compare(.less), .input([29, 61]), .input([61]), scalar: scalar),
        many(
          "rows", Select(), .exactly(Tensor(TensorType(.bool, [53, 1]), rounding: (0..<53).map { Double($0 % 2) })),
          .input([53, 37]), .input([37]), scalar: scalar),
        many("rows", Softmax(axis: 2), .input([2, 17, 71]), scalar: scalar),
        many("columns", Softmax(axis: 1), .input([1, 29, 67]), scalar: scalar),
        many(
          "rows", LayerNormalization(axis: 2, epsilon: 1e-5), .input([1, 19, 96]), .weight([96]), .weight([96]),
          scalar: scalar),
        many(
          "planes", BatchNormalization(epsilon: 1e-3), .input([2, 20, 7, 9]), .weight([20]), .weight([20]),
          .weight([20]),
          .values((0..<20).map { 0.5 + Double($0) / 20 }, [20]), scalar: scalar),
        many("rows", Reduce(.sum, axes: [2], keepsDimensions: false), .input([7, 23, 19]), scalar: scalar),
        many("planes", Reduce(.mean, axes: [2, 3], keepsDimensions: true), .input([1, 40, 8, 8]), scalar: scalar),
        many(
          "table", Gather(axis: 0), .weight([97, 40]), .exactly(Tensor([Int64]([96, 0, -1, 41, 7]), [1, 5])),
          scalar: scalar),
        many(
          "columns", Gather(axis: 1), .input([37, 41]), .exactly(Tensor([Int64]([40, 0, -1, 3]), [2, 2])),
          scalar: scalar),
        many("planes", Transpose([0, 2, 3, 1]), .input([1, 20, 11, 13]), scalar: scalar),
        many(
          "crop", Slice(starts: [0, 1, 2, 1], counts: [1, 23, 5, 9], steps: [1, 1, 1, 1]), .input([1, 24, 8, 12]),
          scalar: scalar),
        many("steps", Slice(starts: [30, 1], counts: [15, 20], steps: [-2, 2]), .input([31, 47]), scalar: scalar),
        many(
          "run", Slice(starts: [0, 5, 0], counts: [1, 20, 37], steps: [1, 1, 1]), .input([1, 30, 37]), scalar: scalar),
        many("run", Concat(axis: 1), .input([1, 13, 31]), .input([1, 16, 31]), .weight([1, 5, 31]), scalar: scalar),
        many("last axis", Concat(axis: 2), .input([1, 29, 11]), .input([1, 29, 24]), scalar: scalar),
        many("rows", Expand([1, 37, 41]), .input([37, 1]), scalar: scalar),
        many(
          "rows", Linear(epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu)), .input([61, 24]),
          .weight([44, 24]), .weight([44]), .input([61, 44]), scalar: scalar),
        many(
          "outputs of a row", Linear(epilogue: .bias), .input([1, 16]), .weight([501, 16]), .weight([501]),
          scalar: scalar),
        many("batches", MatMul(), .input([5, 19, 23]), .input([5, 23, 11]), scalar: scalar),
        many("columns", MatMul(transposesY: true), .input([2, 31]), .input([113, 31]), scalar: scalar),
        many(
          "planes", Pool(.maximum, window: Window(kernel: [3, 3], strides: [2, 2], before: [1, 1])),
          .input([1, 12, 13, 15]), scalar: scalar),
        many(
          "a plane", Pool(.average, window: Window(kernel: [3, 3], before: [1, 1])), .input([1, 1, 37, 41]),
          scalar: scalar),
        many(
          "output channels", Convolution(window: Window(kernel: [1, 1]), epilogue: .bias), .input([1, 5, 7, 7]),
          .weight([72, 5, 1, 1]), .weight([72]), scalar: scalar),
        many(
          "positions",
          Convolution(
            window: Window(kernel: [3, 3], strides: [1, 1], before: [1, 1]),
            epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu)), .input([1, 4, 31, 9]),
          .weight([4, 4, 3, 3]), .weight([4]), .input([1, 4, 31, 9]), scalar: scalar),
        many(
          "positions, stride 2", Convolution(window: Window(kernel: [5, 5], strides: [2, 2], before: [2, 2])),
          .input([1, 3, 29, 21]), .weight([8, 3, 5, 5]), scalar: scalar),
        many(
          "depthwise", Convolution(window: Window(kernel: [3, 3], before: [1, 1]), groups: 24), .input([1, 24, 9, 9]),
          .weight([24, 1, 3, 3]), scalar: scalar),
        many(
          "images", Convolution(window: Window(kernel: [3, 3])), .input([9, 3, 7, 7]), .weight([4, 3, 3, 3]),
          scalar: scalar),
        many(
          "outputs", ConvolutionTranspose(window: Window(kernel: [2, 2], strides: [2, 2])), .input([1, 8, 5, 6]),
          .weight([8, 12, 2, 2]), scalar: scalar),
      ]
    } + [
      many("rounding", Cast(.float16), .input([31, 45])),
      many("integers", Cast(.float32), .exactly(Tensor((0..<1000).map { Int64($0 * 37 % 101) }, [10, 100]))),
    ]

  private static func many(
    _ name: String, _ op: any Operator, _ operands: CaseOperand..., scalar: ScalarType = .float32
  ) -> ConformanceCase {
    node("of many elements, \(name)", op, operands, scalar: scalar)
  }
}
