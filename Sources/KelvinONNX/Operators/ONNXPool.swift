import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let averagePool = ONNXMapper("AveragePool") { c in
    [try c.pool(c.flag("count_include_pad") ? .averageIncludingPadding : .average)]
  }

  /// `(Σ|x|^p)^(1/p)` over each window.
  static let lpPool = ONNXMapper("LpPool") { c in
    let order = c.integer("p", default: 2)
    guard order >= 1 else { throw c.emitter.invalid("order \(order), expected 1 or more") }
    let x = try c.input(0)
    guard let kernel = c.integers("kernel_shape") else { throw c.emitter.invalid("kernel_shape is missing") }
    let window = try c.window(kernel: kernel, over: x, roundsUp: c.flag("ceil_mode"))
    return [try c.emitter.lengthPool(x, window, order: order)]
  }

  /// `(Σ|x|^p)^(1/p)` over all axes after the channels.
  static let globalLpPool = ONNXMapper("GlobalLpPool") { c in
    let order = c.integer("p", default: 2)
    guard order >= 1 else { throw c.emitter.invalid("order \(order), expected 1 or more") }
    if order <= 2 { return [try c.globalPool(order == 1 ? .l1 : .l2)] }
    let x = try c.input(0)
    let (scalar, rank) = (c.emitter.scalar(x), c.emitter.shape(x).rank)
    guard rank >= 3 else { throw c.emitter.invalid("expected [N, C, spatial…], got \(c.emitter.type(x))") }
    let exponent = c.emitter.constant(Double(order), scalar, step: "order")
    let terms = try c.emitter.binary(
      .power, c.emitter.unary(UnaryFunction(.abs), x, step: "sizes"), exponent, step: "terms")
    let sum = try c.emitter.add(Reduce(.sum, axes: Array(2..<rank), keepsDimensions: true), terms, step: "sum")
    return [try c.emitter.binary(.power, sum, c.emitter.constant(1 / Double(order), scalar, step: "root"))]
  }

  static let globalAveragePool = ONNXMapper("GlobalAveragePool") { c in [try c.globalPool(.mean)] }

  static let globalMaxPool = ONNXMapper("GlobalMaxPool") { c in [try c.globalPool(.maximum)] }
}

extension ONNXOperation {
  func pool(
    _ function: Pool.Function, of real: ValueID? = nil, step: String? = nil
  ) throws -> ValueID {
    let x = try real ?? input(0)
    guard let kernel = integers("kernel_shape") else { throw emitter.invalid("kernel_shape is missing") }
    let window = try window(kernel: kernel, over: x, roundsUp: flag("ceil_mode"))
    return try emitter.add(Pool(function, window: window), x, step: step)
  }

  fileprivate func globalPool(_ function: Reduce.Function) throws -> ValueID {
    let x = try input(0)
    let rank = emitter.shape(x).rank
    guard rank >= 3 else { throw emitter.invalid("expected [N, C, spatial…], got \(emitter.type(x))") }
    return try emitter.add(Reduce(function, axes: Array(2..<rank), keepsDimensions: true), x)
  }
}
