import KelvinGraph

extension ONNXMapper {
  static let maxPool = ONNXMapper("MaxPool") { c in
    guard c.node.outputs.dropFirst().allSatisfy(\.isEmpty) else { throw c.unsupported("its output of indices") }
    let scalar = c.emitter.scalar(try c.input(0))
    guard scalar.isByte else { return [try c.pool(.maximum)] }
    // Of 8-bit integers as of the numbers they are; passes run it on the integers where a device can.
    let one = c.emitter.constant(1, .float32, step: "one")
    let real = try c.dequantize(try c.input(0), one, nil, step: "real")
    let largest = try c.pool(.maximum, of: real, step: "largest")
    return [try c.quantize(largest, one, nil, scalar)]
  }

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

  static let globalAveragePool = ONNXMapper("GlobalAveragePool") { c in [try c.globalPool(.mean)] }

  static let globalMaxPool = ONNXMapper("GlobalMaxPool") { c in [try c.globalPool(.maximum)] }
}

extension ONNXOperation {
  fileprivate func pool(
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
