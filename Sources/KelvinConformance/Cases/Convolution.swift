import KelvinGraph

extension ConformanceCase {
  package static let convolution: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        filter("1x1", [1, 13, 7, 11], filters: 17, kernel: [1, 1], scalar: scalar),
        filter("1x1 on one pixel", [1, 37, 1, 1], filters: 29, kernel: [1, 1], scalar: scalar),
        filter("1x1 stride 2", [1, 5, 9, 7], filters: 3, kernel: [1, 1], strides: [2, 2], scalar: scalar),
        filter("1x1 wide", [1, 64, 14, 14], filters: 96, kernel: [1, 1], scalar: scalar),
        filter("3x3", [1, 3, 19, 23], filters: 16, kernel: [3, 3], pad: [1, 1], scalar: scalar),
        filter(
          "3x3 stride 2", [1, 3, 17, 31], filters: 8, kernel: [3, 3], strides: [2, 2], pad: [1, 1], scalar: scalar),
        filter("3x3 batch 2", [2, 4, 8, 8], filters: 5, kernel: [3, 3], pad: [1, 1], scalar: scalar),
        filter("3x3 deep", [1, 67, 7, 7], filters: 70, kernel: [3, 3], pad: [1, 1], scalar: scalar),
        // Computed by Winograd's algorithm on every device that has it, with both tile sizes on the CPU.
        filter("3x3 tiles", [2, 40, 9, 11], filters: 37, kernel: [3, 3], pad: [1, 1], scalar: scalar),
        filter(
          "3x3 tiles residual", [1, 33, 21, 18], filters: 48, kernel: [3, 3], pad: [1, 0], after: [0, 2],
          epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu), scalar: scalar),
        filter(
          "3x3 tiles deep", [1, 174, 18, 15], filters: 178, kernel: [3, 3], pad: [1, 1],
          epilogue: Epilogue(hasBias: false, activation: .silu), scalar: scalar),
        filter(
          "7x7 stride 2", [1, 3, 29, 29], filters: 11, kernel: [7, 7], strides: [2, 2], pad: [3, 3], scalar: scalar),
        // Fewer channels than a block has, and outputs of several tiles, for devices that compute neighbouring
        // windows together.
        filter(
          "few channels", [2, 3, 29, 26], filters: 37, kernel: [7, 7], strides: [2, 2], pad: [3, 3],
          epilogue: Epilogue(hasBias: true, activation: .relu), scalar: scalar),
        filter(
          "few channels dilated residual", [2, 2, 13, 17], filters: 21, kernel: [3, 2], dilations: [2, 3], pad: [2, 1],
          after: [0, 2], epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .silu), scalar: scalar),
        // Enough positions for one work item to compute several tiles.
        filter(
          "many positions", [1, 9, 29, 31], filters: 37, kernel: [3, 3], pad: [1, 1],
          epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu), scalar: scalar),
        filter(
          "1x1 of many positions", [1, 11, 29, 31], filters: 37, kernel: [1, 1],
          epilogue: Epilogue(addsResidual: true, activation: .silu), scalar: scalar),
        filter(
          "clip", [1, 6, 11, 7], filters: 9, kernel: [3, 3],
          epilogue: Epilogue(hasBias: true, activation: .clip(-1, 4)), scalar: scalar),
        filter("patches", [1, 3, 26, 19], filters: 37, kernel: [8, 6], strides: [8, 6], scalar: scalar),
        filter("patches apart", [2, 2, 17, 14], filters: 19, kernel: [4, 3], strides: [5, 3], scalar: scalar),
        filter(
          "dilated", [1, 4, 13, 17], filters: 6, kernel: [3, 3], dilations: [2, 3], pad: [2, 3], scalar: scalar),
        filter(
          "asymmetric padding", [1, 2, 8, 9], filters: 3, kernel: [3, 2], strides: [2, 1], pad: [0, 1], after: [1, 0],
          scalar: scalar),
        filter(
          "groups in one block", [2, 20, 5, 6], filters: 20, kernel: [3, 3], pad: [1, 1], groups: 5, scalar: scalar),
        filter("grouped", [1, 12, 5, 7], filters: 18, kernel: [3, 3], pad: [1, 1], groups: 3, scalar: scalar),
        filter(
          "depthwise 3x3", [1, 19, 14, 14], filters: 19, kernel: [3, 3], pad: [1, 1], groups: 19, scalar: scalar),
        filter(
          "depthwise 3x3 stride 2", [1, 8, 13, 15], filters: 8, kernel: [3, 3], strides: [2, 2], pad: [1, 1], groups: 8,
          scalar: scalar),
        filter(
          "depthwise 3x3 stride 2 same", [1, 8, 16, 18], filters: 8, kernel: [3, 3], strides: [2, 2], pad: [0, 0],
          after: [1, 1], groups: 8, scalar: scalar),
        filter("depthwise 5x5", [2, 7, 7, 7], filters: 7, kernel: [5, 5], pad: [2, 2], groups: 7, scalar: scalar),
        filter(
          "depthwise multiplier 2", [1, 5, 9, 9], filters: 10, kernel: [3, 3], pad: [1, 1], groups: 5, scalar: scalar),
        filter(
          "depthwise 3x3 dilated in one axis", [1, 16, 19, 17], filters: 16, kernel: [3, 3], dilations: [2, 1],
          pad: [2, 1],
          groups: 16, scalar: scalar),
        filter(
          "depthwise 7x7", [2, 17, 11, 13], filters: 17, kernel: [7, 7], pad: [3, 3], groups: 17, scalar: scalar),
        filter(
          "depthwise 3x3 wide", [1, 3, 40, 67], filters: 3, kernel: [3, 3], pad: [1, 1], groups: 3, scalar: scalar),
        filter("no bias", [1, 6, 6, 6], filters: 4, kernel: [3, 3], epilogue: Epilogue(), scalar: scalar),
        filter(
          "relu", [1, 6, 11, 6], filters: 9, kernel: [3, 3], epilogue: Epilogue(hasBias: true, activation: .relu),
          scalar: scalar),
        filter(
          "residual", [1, 16, 7, 7], filters: 24, kernel: [1, 1], epilogue: Epilogue(hasBias: true, addsResidual: true),
          scalar: scalar),
        filter(
          "residual relu", [1, 8, 5, 9], filters: 8, kernel: [3, 3], pad: [1, 1],
          epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu), scalar: scalar),
        filter(
          "residual without bias", [1, 8, 5, 5], filters: 8, kernel: [1, 1], epilogue: Epilogue(addsResidual: true),
          scalar: scalar),
        filter(
          "depthwise clip", [1, 10, 12, 12], filters: 10, kernel: [3, 3], pad: [1, 1], groups: 10,
          epilogue: Epilogue(hasBias: true, activation: .clip(0, 0.5)), scalar: scalar),
        filter(
          "depthwise silu", [1, 10, 9, 9], filters: 10, kernel: [5, 5], strides: [2, 2], pad: [2, 2], groups: 10,
          epilogue: Epilogue(hasBias: true, activation: .silu), scalar: scalar),
      ]
    }
    + [UnaryFunction.silu, .sigmoid, .hardSwish, UnaryFunction(.leakyRelu, a: 0.1), UnaryFunction(.geluTanh)].map {
      (function: UnaryFunction) in
      filter(
        "1x1 \(function)", [1, 24, 5, 7], filters: 20, kernel: [1, 1],
        epilogue: Epilogue(hasBias: true, activation: function))
    }
    + [ScalarType.float32, .float16].flatMap { scalar in
      [
        filter(
          "three axes", [2, 3, 5, 7, 9], filters: 5, kernel: [3, 2, 3], strides: [1, 2, 1], pad: [1, 0, 1],
          scalar: scalar
        ),
        filter(
          "three axes grouped", [1, 6, 6, 5, 4], filters: 4, kernel: [2, 3, 3], dilations: [2, 1, 1], pad: [1, 1, 0],
          after: [0, 1, 2], groups: 2,
          epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu), scalar: scalar),
        filter(
          "three axes depthwise", [1, 5, 4, 6, 5], filters: 5, kernel: [3, 3, 3], pad: [1, 1, 1], groups: 5,
          epilogue: Epilogue(activation: .silu), scalar: scalar),
        filter(
          "three axes depthwise in padding", [2, 3, 3, 7, 19], filters: 6, kernel: [2, 3, 3], strides: [2, 2, 2],
          pad: [3, 1, 1], after: [4, 1, 0], groups: 3,
          epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .clip(-0.5, 0.5)), scalar: scalar),
        filter(
          "three axes pointwise", [2, 9, 3, 5, 7], filters: 20, kernel: [1, 1, 1],
          epilogue: Epilogue(hasBias: true, activation: .relu), scalar: scalar),
        filter(
          "three axes of many positions", [1, 3, 9, 21, 37], filters: 17, kernel: [3, 3, 3], dilations: [1, 2, 1],
          pad: [0, 2, 1], after: [2, 1, 0], scalar: scalar),
      ]
    }
    + [
      node(
        "1-d", Convolution(window: Window(kernel: [3], before: [1]), epilogue: .bias), .input([2, 5, 17]),
        .weight([4, 5, 3]), .weight([4]))
    ]

  private static func filter(
    _ name: String, _ input: Shape, filters: Int, kernel: [Int], strides: [Int]? = nil, dilations: [Int]? = nil,
    pad: [Int]? = nil, after: [Int]? = nil, groups: Int = 1, epilogue: Epilogue = .bias, scalar: ScalarType = .float32
  ) -> ConformanceCase {
    let window = Window(kernel: kernel, strides: strides, dilations: dilations, before: pad, after: after)
    let op = Convolution(window: window, groups: groups, epilogue: epilogue)
    var operands: [CaseOperand] = [.input(input), .weight(Shape([filters, input[1] / groups] + kernel))]
    if epilogue.hasBias { operands.append(.weight([filters])) }
    if epilogue.addsResidual {
      let spatial = (try? window.outputSizes(Array(input.dimensions.dropFirst(2)))) ?? []
      operands.append(.input(Shape([input[0], filters] + spatial)))
    }
    return node(name, op, operands, scalar: scalar)
  }
}
