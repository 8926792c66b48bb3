import KelvinBasics
import KelvinGraph

extension ConformanceCase {
  /// Products with quantized weights, and slices of quantized weights, in every encoding and of every meaning.
  package static let blockQuantizedWeights: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      WeightEncoding.all(scalar).flatMap { form in
        let form = { (shape: Shape) in CaseOperand.encoded(form.weight(shape), form.name) }
        return [
          node("vector", Linear(epilogue: .bias), .input([1, 40]), form([12, 40]), .weight([12]), scalar: scalar),
          node(
            "rows", Linear(epilogue: Epilogue(hasBias: true, addsResidual: true, activation: .relu)),
            .input([3, 23, 48]),
            form([20, 48]), .weight([20]), .input([3, 23, 20]), scalar: scalar),
          node(
            "1x1 on one pixel", Convolution(window: Window(kernel: [1, 1]), groups: 1, epilogue: .bias),
            .input([1, 40, 1, 1]), form([28, 40, 1, 1]), .weight([28]), scalar: scalar),
          node(
            "3x3", Convolution(window: Window(kernel: [3, 3], before: [1, 1]), groups: 1, epilogue: .bias),
            .input([2, 16, 7, 6]), form([36, 16, 3, 3]), .weight([36]), scalar: scalar),
          node(
            "grouped", Convolution(window: Window(kernel: [2, 2]), groups: 3, epilogue: .bias),
            .input([1, 24, 5, 7]), form([36, 8, 2, 2]), .weight([36]), scalar: scalar),
          node(
            "long vector", Linear(epilogue: .bias), .input([1, 1032]), form([12, 1032]), .weight([12]), scalar: scalar),
          node("slices", Gather(axis: 0), form([28, 40]), .exactly(indices), scalar: scalar),
          node("slices of two axes", Gather(axis: 0), form([32, 8, 3]), .exactly(indices), scalar: scalar),
          node("columns", Gather(axis: 1), form([20, 48]), .exactly(indices), scalar: scalar),
        ]
      }
    }
    + [ScalarType.float32, .float16].flatMap { scalar in
      // Depths and widths that do not fill vectors, with blocks that do not divide the inputs.
      WeightEncoding.all(scalar).filter { $0.inputs == nil && $0.outputs ?? 1 == 1 }.flatMap { form in
        let form = { (shape: Shape) in CaseOperand.encoded(form.weight(shape), form.name) }
        return [
          node("odd vector", Linear(), .input([2, 41]), form([11, 41]), scalar: scalar),
          node("odd rows", Linear(), .input([9, 17]), form([19, 17]), scalar: scalar),
          node(
            "3x3 of three planes",
            Convolution(window: Window(kernel: [3, 3], strides: [2, 2]), groups: 1, epilogue: .bias),
            .input([1, 3, 19, 23]), form([10, 3, 3, 3]), .weight([10]), scalar: scalar),
        ]
      }
    }
}

extension ConformanceCase {
  /// Indices into axes of at least 20 elements.
  private static let indices = Tensor(TensorType(.int64, [2, 3]), rounding: [3, -1, 0, 19, -20, 7])
}

/// The encoding of a case's weight.
private struct WeightEncoding {
  enum Meaning { case scales, zeros, biases, tables }

  var bits: Int
  var isSigned = false
  var meaning: Meaning
  /// The outputs and inputs of a block; nil for all of them.
  var outputs: Int?
  var inputs: Int?
  var scalar: ScalarType

  static func all(_ scalar: ScalarType) -> [WeightEncoding] {
    let forms = [
      WeightEncoding(bits: 8, isSigned: true, meaning: .scales, outputs: 1, scalar: scalar),
      WeightEncoding(bits: 4, meaning: .zeros, outputs: 2, inputs: 4, scalar: scalar),
      WeightEncoding(bits: 6, meaning: .tables, scalar: scalar),
    ]
    guard scalar == .float32 else { return forms }
    return forms + [
      WeightEncoding(bits: 8, meaning: .zeros, scalar: scalar),
      WeightEncoding(bits: 8, meaning: .biases, outputs: 1, scalar: scalar),
      WeightEncoding(bits: 8, isSigned: true, meaning: .zeros, outputs: 1, inputs: 8, scalar: scalar),
      WeightEncoding(bits: 4, isSigned: true, meaning: .scales, outputs: 1, inputs: 8, scalar: scalar),
      WeightEncoding(bits: 1, meaning: .tables, scalar: scalar),
      WeightEncoding(bits: 2, meaning: .tables, outputs: 2, scalar: scalar),
      WeightEncoding(bits: 3, meaning: .tables, outputs: 4, inputs: 8, scalar: scalar),
      WeightEncoding(bits: 8, meaning: .tables, outputs: 4, scalar: scalar),
    ]
  }

  var name: String {
    let blocks = (outputs.map { " for \($0) outputs" } ?? "") + (inputs.map { " by \($0) inputs" } ?? "")
    return "\(isSigned ? "signed" : "unsigned") \(bits)-bit \(meaning)\(blocks)"
  }

  func weight(_ shape: Shape) -> Weight {
    var random = SeededGenerator(seed: UInt64(shape.count * 16 + bits))
    var blocks = [Int](repeating: 1, count: shape.rank)
    blocks[0] = outputs.map { shape[0] / $0 } ?? 1
    blocks[1] = inputs.map { shape[1] / $0 } ?? 1
    func numbers(_ scalar: ScalarType, _ shape: [Int], _ range: ClosedRange<Float>) -> Weight {
      Weight(.random(scalar, Shape(shape), range, &random))
    }
    do {
      let codes = Weight(
        try PackedIntegers(
          Bytes(count: PackedIntegers.byteCount(shape.count, bits: bits)) { raw in
            for index in raw.indices { raw[index] = UInt8(truncatingIfNeeded: random.next()) }
          }, bits: bits, isSigned: isSigned, shape: shape))
      let step = 1 / Float(1 << bits)
      switch meaning {
      case .scales: return try Weight(affine: codes, scale: numbers(scalar, blocks, step / 2...2 * step))
      case .zeros:
        let zeros = Weight(
          Tensor(
            TensorType(codes.type.scalar, Shape(blocks)),
            rounding: (0..<Shape(blocks).count).map { _ in Double(random.index(below: 1 << (bits - 1))) }))
        return try Weight(affine: codes, scale: numbers(scalar, blocks, step / 2...2 * step), offset: zeros)
      case .biases:
        return try Weight(
          affine: codes, scale: numbers(scalar, blocks, step / 2...2 * step), bias: numbers(scalar, blocks, -1...0))
      case .tables: return try Weight(palettized: codes, table: numbers(scalar, blocks + [1 << bits, 1], -1...1))
      }
    } catch { preconditionFailure("'\(name)' of \(shape) is not a valid weight: \(error)") }
  }
}
