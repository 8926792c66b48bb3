import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension VariantExample {
  /// Returns examples that together reach every kernel that depends on the instruction set, except for the functions of
  /// one element. `VariantCheckTests` checks this.
  static func all() throws -> [VariantExample] {
    [
      try VariantExample(convolutions, onBlocks: true, rounds: true), try VariantExample(products, rounds: true),
      try VariantExample(elements), try VariantExample(integers, onBlocks: true),
    ]
  }

  private typealias Example = NodeExample.Entry

  private static func convolution(
    _ input: Shape, filters: Int, kernel: Int, stride: Int = 1, groups: Int = 1, epilogue: Epilogue = .bias
  ) -> Example {
    let window = Window(
      kernel: [kernel, kernel], strides: [stride, stride], before: [kernel / 2, kernel / 2],
      after: [kernel / 2, kernel / 2])
    return (
      Convolution(window: window, groups: groups, epilogue: epilogue),
      [.input(input), .weight([filters, input[1] / groups, kernel, kernel]), .weight([filters])]
    )
  }

  private static var convolutions: [Example] {
    let clipped = Epilogue(hasBias: true, activation: .relu)
    let window = Window(kernel: [3, 3], strides: [2, 2], before: [1, 1], after: [1, 1])
    return [
      convolution([1, 19, 3, 5], filters: 17, kernel: 1, epilogue: clipped),
      convolution([1, 3, 9, 8], filters: 17, kernel: 3, stride: 2),
      convolution([1, 18, 4, 9], filters: 21, kernel: 3, stride: 2),
      // These use Winograd's tiles of two and of four.
      convolution([1, 17, 5, 6], filters: 16, kernel: 3, epilogue: clipped),
      convolution([1, 32, 12, 12], filters: 32, kernel: 3),
      convolution([1, 16, 4, 3], filters: 16, kernel: 3, stride: 2, groups: 4),
      convolution([1, 18, 6, 5], filters: 18, kernel: 3, groups: 18, epilogue: clipped),
      convolution([1, 16, 7, 5], filters: 16, kernel: 5, groups: 16),
      (
        ConvolutionTranspose(window: Window(kernel: [2, 2], strides: [2, 2])),
        [.input([1, 5, 3, 4]), .weight([5, 6, 2, 2])]
      ),
      (Pool(.maximum, window: window), [.input([1, 18, 6, 9])]),
      (Pool(.average, window: window), [.input([1, 18, 6, 9])]),
    ]
  }

  private static var products: [Example] {
    [
      (Linear(epilogue: .bias), [.input([11, 21]), .weight([53, 21]), .weight([53])]),
      (Linear(epilogue: .bias), [.input([1, 21]), .weight([19, 21]), .weight([19])]),
      (Linear(epilogue: .bias), [.input([3, 21]), .multiples([53, 21]), .weight([53])]),
      (Linear(epilogue: .bias), [.input([1, 43]), .shortMultiples([19, 43]), .weight([19])]),
      (Linear(epilogue: .bias), [.input([9, 21]), .shortMultiples([19, 21]), .weight([19])]),
      (MatMul(), [.input([2, 9, 13]), .input([2, 13, 35])]),
      (
        Attention(
          batch: 1, heads: 2, queries: 9, keys: 21, width: 5, valueWidth: 5, scale: 0.5, query: [0, 0, 45, 5, 1],
          key: [0, 0, 105, 5, 1], value: [0, 0, 105, 5, 1], shape: [2, 9, 5], result: [0, 45, 5]),
        [.input([2, 9, 5]), .input([2, 21, 5]), .input([2, 21, 5])]
      ),
      (
        Attention(
          batch: 1, heads: 4, queries: 1, keys: 21, width: 20, valueWidth: 37, scale: 0.5, sharing: 2,
          query: [0, 0, 20, 20, 1], key: [0, 0, 420, 20, 1], value: [0, 0, 777, 37, 1], shape: [4, 37],
          result: [0, 37, 37]),
        [.input([4, 20]), .input([2, 21, 20]), .input([2, 21, 37])]
      ),
    ]
  }

  private static var elements: [Example] {
    let row: Shape = [3, 37]
    return [
      (Binary(.multiply), [.input(row), .input([37])]),
      (Compare(.less), [.input(row), .input(row)]),
      (Select(), [.input(row, .bool), .input(row), .input(row)]),
      (Reduce(.sum, axes: [1], keepsDimensions: false), [.input(row)]),
      (Softmax(axis: 1), [.input(row)]),
      (LayerNormalization(axis: 1, epsilon: 1e-3), [.input(row), .weight([37]), .weight([37])]),
      (LayerNormalization(axis: 1, epsilon: 1e-3, isCentered: false), [.input(row), .weight([37])]),
      (CumulativeReduce(.sum, axis: 0, isExclusive: false, isReversed: false), [.input(row)]),
      (RotaryEmbedding(width: 36), [.input(row), .weight([18]), .weight([18])]),
      (
        BatchNormalization(epsilon: 1e-3),
        [.input([1, 5, 23]), .weight([5]), .weight([5]), .weight([5]), .number(2, [5])]
      ),
      (LocalResponseNormalization(size: 3, alpha: 0.5, beta: 0.75, k: 1), [.input([1, 7, 3, 9])]),
      (
        Resize(axes: [2, 3].map { ResizeAxis(axis: $0, size: 7, scale: 0.6, offset: -0.2) }, interpolation: .linear),
        [.input([1, 2, 4, 5])]
      ),
      // This converts between float16 and float32.
      (Unary(UnaryFunction(.negate)), [.input(row, .float16)]),
    ]
  }

  private static var integers: [Example] {
    func convolution(
      _ input: Shape, _ types: (ScalarType, ScalarType), filters: Int, kernel: Int, groups: Int = 1
    ) -> Example {
      let window = Window(
        kernel: [kernel, kernel], before: [kernel / 2, kernel / 2], after: [kernel / 2, kernel / 2])
      return (
        ConvolutionInteger(window: window, groups: groups, requantization: Requantization(types.0)),
        [
          .input(input, types.0), .weight([filters, input[1] / groups, kernel, kernel], types.1),
          .number(3, [], types.0), .number(9, [filters], types.1), .number(5, [filters], .int32),
          .number(0.2 / Double(input[1] / groups * kernel), [filters]), .number(40, [], types.0),
        ]
      )
    }
    let step: [Operand] = [.number(0.5), .number(7, [], .uint8)]
    return [
      convolution([1, 19, 3, 5], (.uint8, .int8), filters: 18, kernel: 1),
      convolution([1, 18, 5, 4], (.int8, .int8), filters: 17, kernel: 3),
      convolution([1, 3, 6, 5], (.uint8, .int8), filters: 17, kernel: 3),
      convolution([1, 18, 6, 7], (.uint8, .int8), filters: 18, kernel: 3, groups: 18),
      (
        MatMulInteger(),
        [.input([9, 13], .uint8), .weight([13, 35], .int8), .number(3, [], .uint8), .number(2, [35], .int8)]
      ),
      (
        LinearInteger(epilogue: .bias),
        [
          .input([9, 13]), .weight([35, 13], .int8), .number(0.01, [35]), .number(2, [35], .int8), .weight([35]),
        ]
      ),
      (
        Pool(.maximum, window: Window(kernel: [3, 3], strides: [2, 2])), [.input([1, 18, 7, 9], .uint8)]
      ),
      (BinaryInteger(.add), [.input([37], .uint8), .input([37], .uint8)] + step + step + step),
      (Quantize(scalar: .uint8), [.input([1, 18, 37])] + step),
      (Dequantize(), [.input([1, 18, 37], .uint8)] + step),
    ]
  }
}
