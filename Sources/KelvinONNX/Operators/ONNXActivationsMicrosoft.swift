import KelvinGraph
import KelvinImport

/// Activations of the domain `com.microsoft`, most of them after a sum: ONNX Runtime's `ContribOperators.md`.
extension ONNXMapper {
  static let microsoftActivations: [ONNXMapper] = [
    biasGelu, fastGelu, quickGelu, gemmFastGelu, biasAdd, biasSplitGelu, biasSoftmax,
  ]

  private static let biasGelu = ONNXMapper("com.microsoft.BiasGelu") { c in
    let sum = try c.biased(try c.input(0), try c.input(1))
    return [try c.emitter.unary(UnaryFunction(.gelu), sum)]
  }

  private static let fastGelu = ONNXMapper("com.microsoft.FastGelu") { c in
    [try c.emitter.unary(UnaryFunction(.geluTanh), c.biased(try c.input(0), c.optional(1)))]
  }

  /// `x · sigmoid(α x)`.
  private static let quickGelu = ONNXMapper("com.microsoft.QuickGelu") { c in
    let (x, alpha) = (try c.input(0), c.float("alpha", default: 1.702))
    let scaled = try c.emitter.unary(UnaryFunction(.affine, a: alpha), x, step: "scaled")
    return [try c.emitter.binary(.multiply, x, c.emitter.unary(.sigmoid, scaled, step: "gate"))]
  }

  private static let gemmFastGelu = ONNXMapper("com.microsoft.GemmFastGelu") { c in
    let product = try c.emitter.matmul(try c.input(0), try c.input(1), step: "product")
    return [try c.emitter.unary(UnaryFunction(.geluTanh), c.biased(product, c.optional(2)))]
  }

  private static let biasAdd = ONNXMapper("com.microsoft.BiasAdd") { c in
    let (x, skip) = (try c.input(0), try c.input(2))
    guard c.emitter.shape(skip) == c.emitter.shape(x) else {
      throw c.emitter.invalid("\(c.emitter.type(skip)) cannot be added to \(c.emitter.type(x))")
    }
    return [try c.emitter.binary(.add, c.biased(x, try c.input(1)), skip)]
  }

  /// Multiplies the first half of each row of the sum with the Gelu of the second half.
  private static let biasSplitGelu = ONNXMapper("com.microsoft.BiasSplitGelu") { c in
    let sum = try c.biased(try c.input(0), try c.input(1))
    let sizes = c.emitter.shape(sum)
    guard let width = sizes.dimensions.last, width % 2 == 0 else {
      throw c.emitter.invalid("\(c.emitter.type(sum)) does not split into two equal halves")
    }
    let halves = try c.emitter.split(sum, axis: sizes.rank - 1, sizes: [width / 2, width / 2], step: "half")
    let gate = try c.emitter.unary(UnaryFunction(.gelu), halves[1], step: "gate")
    return [try c.emitter.binary(.multiply, halves[0], gate)]
  }

  /// Softmax over all axes from `axis` on, flattened to one. The sizes of the bias determine its broadcast axes.
  private static let biasSoftmax = ONNXMapper("com.microsoft.BiasSoftmax") { c in
    let sum = try c.biased(try c.input(0), try c.input(1))
    let sizes = c.emitter.shape(sum)
    let axis = try c.emitter.axis(c.integer("axis", default: 1), of: sum)
    if axis == sizes.rank - 1 { return [try c.emitter.add(Softmax(axis: axis), sum)] }
    let rows = Shape([sizes.dimensions[..<axis].reduce(1, *), sizes.dimensions[axis...].reduce(1, *)])
    let shares = try c.emitter.add(Softmax(axis: 1), c.emitter.reshape(sum, rows, step: "rows"), step: "shares")
    return [try c.emitter.reshape(shares, sizes)]
  }
}

extension ONNXOperation {
  /// Returns the sum with a bias that broadcasts to x, or x itself without a bias.
  func biased(_ x: ValueID, _ bias: ValueID?, step: String = "biased") throws -> ValueID {
    guard let bias else { return x }
    guard emitter.shape(x).broadcast(with: emitter.shape(bias)) == emitter.shape(x) else {
      throw emitter.invalid("a bias of \(emitter.type(bias)) for \(emitter.type(x))")
    }
    return try emitter.binary(.add, x, bias, step: step)
  }
}
