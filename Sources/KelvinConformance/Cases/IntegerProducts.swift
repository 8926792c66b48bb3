import KelvinGraph

extension ConformanceCase {
  /// Every pair of operand types, with nonzero zero points.
  package static let convolutionInteger: [ConformanceCase] =
    [(ScalarType.uint8, ScalarType.int8), (.uint8, .uint8), (.int8, .int8), (.int8, .uint8)].flatMap { types in
      [
        filter("1x1", [1, 13, 7, 11], filters: 17, kernel: [1, 1], types: types),
        filter("1x1 on one pixel", [1, 37, 1, 1], filters: 29, kernel: [1, 1], types: types),
        filter("1x1 wide", [1, 64, 14, 14], filters: 20, kernel: [1, 1], types: types, to: .uint8),
        filter("1x1 stride 2", [1, 5, 9, 7], filters: 3, kernel: [1, 1], strides: [2, 2], types: types, to: .int8),
        filter("3x3", [2, 3, 19, 23], filters: 7, kernel: [3, 3], pad: [1, 1], types: types),
        filter(
          "3x3 stride 2", [1, 3, 17, 31], filters: 8, kernel: [3, 3], strides: [2, 2], pad: [1, 1], types: types,
          to: .uint8),
        filter(
          "dilated grouped", [1, 6, 13, 17], filters: 4, kernel: [3, 3], dilations: [2, 3], pad: [2, 3], groups: 2,
          types: types, to: .int8),
        filter("depthwise 3x3", [1, 5, 14, 37], filters: 5, kernel: [3, 3], pad: [1, 1], groups: 5, types: types),
        filter(
          "depthwise 3x3 stride 2", [1, 5, 13, 15], filters: 5, kernel: [3, 3], strides: [2, 2], pad: [1, 1], groups: 5,
          types: types, to: .uint8),
        filter(
          "depthwise 5x4 dilated multiplier 2", [2, 3, 19, 18], filters: 6, kernel: [5, 4], dilations: [2, 3],
          pad: [3, 2], groups: 3, types: types, to: .int8),
        filter("1-d", [2, 5, 17], filters: 4, kernel: [3], pad: [1], types: types, to: .uint8),
        filter(
          "three axes", [1, 5, 4, 6, 7], filters: 11, kernel: [3, 2, 3], strides: [1, 2, 1], pad: [1, 0, 1],
          types: types,
          to: .int8),
        filter(
          "wide grouped", [2, 24, 9, 8], filters: 44, kernel: [3, 2], strides: [2, 1], dilations: [1, 2], pad: [1, 2],
          groups: 4, types: types, to: .int8),
        filter("wide 3x3 of 16s", [1, 32, 6, 9], filters: 35, kernel: [3, 3], pad: [1, 1], types: types),
        // So deep that groups of a GPU share the depth.
        filter("deep 1x1", [1, 2101, 3, 5], filters: 13, kernel: [1, 1], types: types, to: .uint8),
        filter("wide 3x3", [1, 19, 9, 11], filters: 37, kernel: [3, 3], pad: [1, 1], types: types, to: .uint8),
      ]
    }
    + [
      filter(
        "extremes", [1, 1031, 3, 7], filters: 3, kernel: [1, 1], types: (.uint8, .int8), values: (255, -128)),
      filter(
        "wide extremes", [1, 1031, 3, 7], filters: 24, kernel: [1, 1], types: (.uint8, .int8), values: (255, -128)),
      filter(
        "depthwise extremes", [1, 3, 9, 35], filters: 3, kernel: [5, 5], groups: 3, types: (.uint8, .uint8),
        values: (255, 255)),
    ]

  package static let matmulInteger: [ConformanceCase] =
    [(ScalarType.uint8, ScalarType.int8), (.uint8, .uint8), (.int8, .int8), (.int8, .uint8)].flatMap { types in
      [
        product("vector", [1, 41], [41, 23], types: types),
        product("square", [17, 13], [13, 19], types: types, to: .int8),
        product("deep", [3, 2101], [2101, 21], types: types),
        product("batched", [3, 2, 5, 7], [2, 7, 70], types: types, isConstant: false),
        product("transposed", [3, 5, 33], [29, 33], transposesY: true, types: types, to: .uint8),
        product("transposed operand", [5, 33], [2, 29, 33], transposesY: true, types: types, isConstant: false),
        product("one zero point", [9, 130], [130, 80], types: types, hasOneZero: true, to: .uint8),
      ]
    }

  package static let linearInteger: [ConformanceCase] = [ScalarType.int8, .uint8].flatMap { weights in
    let epilogues: [(String, Epilogue)] = [
      ("", Epilogue()), (" bias relu", Epilogue(hasBias: true, activation: .relu)),
      (" residual gelu", Epilogue(addsResidual: true, activation: UnaryFunction(.gelu))),
      (" all", Epilogue(hasBias: true, addsResidual: true, activation: .clip(-0.25, 0.5))),
    ]
    return epilogues.flatMap { name, epilogue in
      [
        layer("one row\(name)", [1, 41], columns: 23, of: weights, epilogue, areSeveral: true),
        layer("batch\(name)", [2, 7, 33], columns: 67, of: weights, epilogue, areSeveral: false),
        layer("long rows\(name)", [13, 1031], columns: 5, of: weights, epilogue, areSeveral: true),
      ]
    } + [
      layer("positive", [5, 19], columns: 17, of: weights, Epilogue(), areSeveral: true, in: 3...7),
      layer("negative", [5, 19], columns: 70, of: weights, .bias, areSeveral: true, in: -7 ... -3),
      layer("zeros", [3, 8], columns: 9, of: weights, .bias, areSeveral: false, in: nil),
    ]
  }

  /// - Parameters:
  ///   - areSeveral: Whether scales and zero points of the weights vary along the columns.
  ///   - range: The range of x; nil for zeros.
  private static func layer(
    _ name: String, _ x: Shape, columns: Int, of scalar: ScalarType, _ epilogue: Epilogue, areSeveral: Bool,
    in range: ClosedRange<Float>? = -3...2
  ) -> ConformanceCase {
    let (depth, middle) = (x[x.rank - 1], scalar == .uint8 ? 128.0 : 0)
    let count = areSeveral ? columns : 1
    let scale = 0.02 / Double(depth).squareRoot()
    let parameters: Shape = areSeveral ? [columns] : []
    let scales = (0..<count).map { scale * (1 + 0.1 * Double($0 % 5)) }
    let zeros = (0..<count).map { middle + Double($0 % 7) }
    var operands: [CaseOperand] = [
      .exactly(Tensor([Float](repeating: 0, count: x.count), x)),
      .fixed(operand(scalar, [columns, depth], nil, seed: 12)), .values(scales, parameters),
      .fixed(Tensor(TensorType(scalar, parameters), rounding: zeros)),
    ]
    if let range { operands[0] = .ranged(x, range) }
    if epilogue.hasBias { operands.append(.weight([columns])) }
    if epilogue.addsResidual { operands.append(.input(Shape(x.dimensions.dropLast() + [columns]))) }
    return node("\(name) \(scalar.rawValue)", LinearInteger(epilogue: epilogue), operands)
  }

  private static func filter(
    _ name: String, _ input: Shape, filters: Int, kernel: [Int], strides: [Int]? = nil, dilations: [Int]? = nil,
    pad: [Int]? = nil, groups: Int = 1, types: (x: ScalarType, weights: ScalarType), to scalar: ScalarType? = nil,
    values: (x: Double, weights: Double)? = nil
  ) -> ConformanceCase {
    let weightShape = Shape([filters, input[1] / groups] + kernel)
    let weightBase = types.weights == .uint8 ? 100 : -20
    var operands: [CaseOperand] = [
      .exactly(operand(types.x, input, values?.x, seed: 6)),
      .fixed(operand(types.weights, weightShape, values?.weights, seed: 7)),
      .fixed(number(types.x, values == nil ? types.x == .uint8 ? 113 : -9 : 0)),
      .fixed(
        Tensor(
          TensorType(types.weights, [filters]),
          rounding: (0..<filters).map { values == nil ? Double(weightBase + 3 * $0) : 0 })),
    ]
    let depth = weightShape.dimensions[1...].reduce(1, *)
    if let scalar { operands += requantization(scalar, channels: filters, depth: depth) }
    let op = ConvolutionInteger(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: pad), groups: groups,
      requantization: scalar.map { Requantization($0, lower: 3, upper: 120) })
    return node("\(name) \(types.x.rawValue) \(types.weights.rawValue)", op, operands)
  }

  private static func product(
    _ name: String, _ x: Shape, _ y: Shape, transposesY: Bool = false, types: (x: ScalarType, y: ScalarType),
    isConstant: Bool = true, hasOneZero: Bool = false, to scalar: ScalarType? = nil
  ) -> ConformanceCase {
    let columns = y[y.rank - (transposesY ? 2 : 1)]
    let right = operand(types.y, y, nil, seed: 9)
    let zeros = hasOneZero ? [5] : (0..<columns).map { Double($0 % 7) }
    var operands: [CaseOperand] = [
      .exactly(operand(types.x, x, nil, seed: 8)), isConstant ? .fixed(right) : .exactly(right),
      .exactly(number(types.x, 11)),
      .fixed(Tensor(TensorType(types.y, [zeros.count]), rounding: zeros)),
    ]
    if let scalar { operands += requantization(scalar, channels: columns, depth: x[x.rank - 1]) }
    let op = MatMulInteger(transposesY: transposesY, requantization: scalar.map { Requantization($0) })
    return node("\(name) \(types.x.rawValue) \(types.y.rawValue)", op, operands)
  }

  private static func operand(_ scalar: ScalarType, _ shape: Shape, _ value: Double?, seed: UInt64) -> Tensor {
    guard let value else { return .bytes(scalar, shape, seed: seed) }
    return Tensor(TensorType(scalar, shape), rounding: [Double](repeating: value, count: shape.count))
  }

  /// Returns a bias and scales for which results use the range of 8 bits.
  private static func requantization(_ scalar: ScalarType, channels: Int, depth: Int) -> [CaseOperand] {
    let scale = 0.01 / Double(depth).squareRoot()
    return [
      .fixed(
        Tensor(TensorType(.int32, [channels]), rounding: (0..<channels).map { Double(977 * ($0 % 13) - 5000) })),
      .fixed(
        Tensor(
          TensorType(.float32, [channels]), rounding: (0..<channels).map { scale * (1 + 0.1 * Double($0 % 5)) })),
      .fixed(number(scalar, 60)),
    ]
  }
}
