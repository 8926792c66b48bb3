import KelvinBasics
import KelvinGraph

extension ConformanceCase {
  package static let quantize: [ConformanceCase] =
    [ScalarType.uint8, .int8, .int16, .uint16].flatMap { scalar in
      [
        node(
          "one scale to \(scalar.rawValue)", Quantize(scalar: scalar), .ranged([3, 7, 11], -4...4),
          .fixed(Tensor([Float(0.03)], [])), .fixed(number(scalar, 7))),
        node(
          "axis to \(scalar.rawValue)", Quantize(axis: 1, scalar: scalar), .ranged([2, 5, 9], -4...4),
          .fixed(Tensor(TensorType(.float32, [5]), rounding: [0.01, 0.02, 0.3, 1, 0.025])),
          .fixed(Tensor(TensorType(scalar, [5]), rounding: [0, 1, 100, 20, 3]))),
        node(
          "ties to \(scalar.rawValue)", Quantize(scalar: scalar),
          .exactly(Tensor((-20...20).map { Float($0) / 4 }, [41])), .fixed(Tensor([Float(0.5)], [1])),
          .fixed(number(scalar, 0))),
        node(
          "blocks to \(scalar.rawValue)", Quantize(axis: 0, blockSize: 3, scalar: scalar), .ranged([7, 5], -4...4),
          .fixed(Tensor(TensorType(.float32, [3, 5]), rounding: (1...15).map { 0.01 * Double($0) })),
          .fixed(Tensor(TensorType(scalar, [3, 5]), rounding: (0..<15).map(Double.init)))),
        node(
          "blocks of rows to \(scalar.rawValue)", Quantize(axis: 1, blockSize: 3, scalar: scalar),
          .ranged([5, 12], -4...4),
          .fixed(Tensor(TensorType(.float32, [5, 4]), rounding: (1...20).map { 0.01 * Double($0) })),
          .fixed(Tensor(TensorType(scalar, [5, 4]), rounding: (0..<20).map(Double.init)))),
        node(
          "last axis to \(scalar.rawValue)", Quantize(axis: 1, scalar: scalar), .ranged([3, 37], -4...4),
          .fixed(Tensor(TensorType(.float32, [37]), rounding: (1...37).map { 0.01 * Double($0) })),
          .fixed(Tensor(TensorType(scalar, [37]), rounding: (0..<37).map(Double.init)))),
      ]
    } + [
      node(
        "large", Quantize(scalar: .uint8), .ranged([1, 3, 67, 67], -4...4), .fixed(Tensor([Float(0.03)], [])),
        .fixed(number(.uint8, 128))),
      node(
        "out of range", Quantize(scalar: .int8), .exactly(Tensor([Float.infinity, -.infinity, 3e38, -3e38, 0], [5])),
        .fixed(Tensor([Float(0.5)], [])), .fixed(number(.int8, 5))),
    ]

  package static let dequantize: [ConformanceCase] = [ScalarType.uint8, .int8, .int16, .uint16, .int32].flatMap {
    scalar in
    [
      node(
        "one scale of \(scalar.rawValue)", Dequantize(), .exactly(.bytes(scalar, [3, 7, 11], seed: 1)),
        .fixed(Tensor([Float(0.03)], [])), .fixed(number(scalar, 7))),
      node(
        "axis of \(scalar.rawValue)", Dequantize(axis: 2), .exactly(.bytes(scalar, [3, 7, 5], seed: 2)),
        .fixed(Tensor(TensorType(.float32, [5]), rounding: [0.01, 0.02, 0.3, 1, 0.025])),
        .fixed(Tensor(TensorType(scalar, [5]), rounding: [0, 1, 100, 20, 3]))),
      node(
        "blocks of rows of \(scalar.rawValue)", Dequantize(axis: 1, blockSize: 4),
        .exactly(.bytes(scalar, [3, 12], seed: 5)),
        .fixed(Tensor(TensorType(.float32, [3, 3]), rounding: (1...9).map { 0.01 * Double($0) })),
        .fixed(Tensor(TensorType(scalar, [3, 3]), rounding: (0..<9).map(Double.init)))),
      node(
        "blocks of \(scalar.rawValue)", Dequantize(axis: 1, blockSize: 2),
        .exactly(.bytes(scalar, [2, 5, 3], seed: 3)),
        .fixed(Tensor(TensorType(.float32, [2, 3, 3]), rounding: (1...18).map { 0.1 * Double($0) })),
        .fixed(Tensor(TensorType(scalar, [2, 3, 3]), rounding: (0..<18).map(Double.init)))),
    ]
  }

  package static let binaryInteger: [ConformanceCase] = [ScalarType.uint8, .int8].flatMap { scalar in
    [Binary.Function.add, .multiply].flatMap { function in
      [("", [2, 3, 5, 7] as Shape), (" broadcast", [3, 1, 1])].map { name, shape in
        node(
          "\(function.rawValue) \(scalar.rawValue)\(name)", BinaryInteger(function),
          .exactly(.bytes(scalar, [2, 3, 5, 7], seed: 4)), .exactly(.bytes(scalar, shape, seed: 5)),
          .fixed(Tensor([Float(0.031)], [])), .fixed(number(scalar, 3)), .fixed(Tensor([Float(0.017)], [])),
          .fixed(number(scalar, 9)), .fixed(Tensor([Float(0.043)], [])), .fixed(number(scalar, 64)))
      }
    }
  }

  package static let integerPool: [ConformanceCase] = [ScalarType.uint8, .int8].flatMap { scalar in
    [
      (
        "3x3 stride 2",
        Window(kernel: [3, 3], strides: [2, 2], before: [1, 1])
      ),
      ("2x2", Window(kernel: [2, 2], before: [0, 0])),
      ("dilated", Window(kernel: [3, 2], dilations: [2, 3], before: [1, 2])),
      ("1-d", Window(kernel: [5], strides: [3], before: [2])),
      ("over three axes", Window(kernel: [3, 2, 2], strides: [1, 2, 1], before: [1, 0, 1])),
    ].map { name, window in
      node(
        "\(name) of \(scalar.rawValue)", Pool(.maximum, window: window),
        .exactly(.bytes(scalar, Shape([2, 3] + [[23], [13, 11], [5, 6, 7]][window.rank - 1]), seed: 10)))
    }
  }

  static func number(_ scalar: ScalarType, _ value: Double) -> Tensor {
    Tensor(TensorType(scalar, []), rounding: [value])
  }
}

extension Tensor {
  /// Returns integers over the whole range of an 8-bit type; wider types use the same range.
  static func bytes(_ scalar: ScalarType, _ shape: Shape, seed: UInt64) -> Tensor {
    var random = SeededGenerator(seed: seed)
    let lower = scalar == .uint8 || scalar == .uint16 ? 0 : -128
    return Tensor(
      TensorType(scalar, shape), rounding: (0..<shape.count).map { _ in Double(lower + Int(random.next() % 256)) })
  }

  /// Returns odd numbers of up to seven bits, negative ones too if the type is signed. Sums and products of a dozen
  /// elements wrap, products in every type, and no product is 0.
  static func odd(_ scalar: ScalarType, _ shape: Shape) -> Tensor {
    let isUnsigned = scalar == .uint8 || scalar == .uint16 || scalar == .uint32
    let values = (0..<shape.count).map { (index: Int) -> Double in
      let value = Double((index * 74 + 20) % 126 + 1)
      return isUnsigned || index % 5 != 0 ? value : -value
    }
    return Tensor(TensorType(scalar, shape), rounding: values)
  }
}
