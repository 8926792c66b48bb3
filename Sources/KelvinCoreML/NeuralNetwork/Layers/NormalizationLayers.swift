import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let normalizations: [LayerMapper] = [
    batchnorm, l2normalize, lrn, meanVariance, softmax, softmaxND, layerNormalization,
  ]

  private static let batchnorm = LayerMapper(Layers.batchnorm) { c in
    typealias Fields = LayerSchema.BatchnormLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let channels = c.emitter.shape(planes)[1]
    let epsilon = try c.number(Fields.epsilon, default: 1e-5)
    let computes = try c.flag(Fields.computeMeanVar)
    let shape: Shape = computes ? [channels, 1, 1] : [channels]
    func parameter(_ field: Int, _ step: String, otherwise value: Double) throws -> ValueID {
      if try c.message(field) != nil { return try c.constant(try c.weights(field), shape, step: step) }
      let type = TensorType(.float32, shape)
      return c.emitter.constant(
        Weight(type) { Tensor(type, rounding: [Double](repeating: value, count: type.count)) }, step: step)
    }
    let scale = try parameter(Fields.gamma, "gamma", otherwise: 1)
    let shift = try parameter(Fields.beta, "beta", otherwise: 0)
    if computes {
      let perInstance = try c.flag(Fields.instanceNormalization)
      return c.fromPlanes(
        try c.emitter.normalize(
          planes, axes: perInstance ? [2, 3] : [0, 2, 3], epsilon: epsilon, scale: scale, shift: shift), x)
    }
    let mean = try parameter(Fields.mean, "mean", otherwise: 0)
    let variance = try parameter(Fields.variance, "variance", otherwise: 1)
    return c.fromPlanes(
      try c.emitter.add(BatchNormalization(epsilon: epsilon), planes, scale, shift, mean, variance), x)
  }

  /// `x / sqrt(Σx² + epsilon)` over the last three axes.
  private static let l2normalize = LayerMapper(Layers.l2normalize) { c in
    let x = try c.input(0)
    let planes = try c.planes(x)
    let epsilon = try c.number(LayerSchema.L2NormalizeLayerParams.epsilon, default: 1e-6)
    let squares = try c.emitter.add(
      Reduce(.sumOfSquares, axes: [1, 2, 3], keepsDimensions: true), planes, step: "squares")
    let inverse = try c.emitter.unary(UnaryFunction(.rsqrt, a: epsilon), squares, step: "inverse_length")
    return c.fromPlanes(try c.emitter.binary(.multiply, planes, inverse), x)
  }

  private static let lrn = LayerMapper(Layers.lrn) { c in
    typealias Fields = LayerSchema.LRNLayerParams
    let x = try c.input(0)
    let size = try c.integer(Fields.localSize)
    let normalized = try c.emitter.localResponseNormalize(
      try c.planes(x), size: size, alpha: try c.number(Fields.alpha), beta: try c.number(Fields.beta),
      k: try c.number(Fields.k, default: 1))
    return c.fromPlanes(normalized, x)
  }

  /// Subtracts the mean over the rows and columns of each channel, or of all channels, and divides by the standard
  /// deviation.
  private static let meanVariance = LayerMapper(Layers.mvn) { c in
    typealias Fields = LayerSchema.MeanVarianceNormalizeLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let axes = try c.flag(Fields.acrossChannels) ? [1, 2, 3] : [2, 3]
    guard try c.flag(Fields.normalizeVariance) else {
      let mean = try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), planes, step: "mean")
      return c.fromPlanes(try c.emitter.binary(.subtract, planes, mean), x)
    }
    let epsilon = try c.number(Fields.epsilon, default: 1e-6)
    return c.fromPlanes(try c.emitter.normalize(planes, axes: axes, epsilon: epsilon, scale: nil, shift: nil), x)
  }

  /// Softmax over channels; for vectors, over their last axis.
  private static let softmax = LayerMapper(Layers.softmax) { c in
    let x = try c.input(0)
    let shape = try c.planeShape(x)
    if shape[2] == 1, shape[3] == 1 {
      let rows = try c.view(x, [shape[0], shape[1]])
      return Blob(try c.emitter.add(Softmax(axis: 1), rows), x.shape)
    }
    return c.fromPlanes(try c.emitter.add(Softmax(axis: 1), try c.planes(x)), x)
  }

  private static let softmaxND = LayerMapper(Layers.softmaxND) { c in
    let x = try c.input(0)
    let value = try c.logical(x)
    let axis = try c.axis(LayerSchema.SoftmaxNDLayerParams.axis, of: value)
    return Blob(try c.emitter.add(Softmax(axis: axis), value), x.shape)
  }

  /// Normalizes over the last axes, whose sizes are parameters.
  private static let layerNormalization = LayerMapper(Layers.layerNormalization) { c in
    typealias Fields = LayerSchema.LayerNormalizationLayerParams
    let x = try c.input(0)
    let sizes = try c.integers(Fields.normalizedShape)
    guard !sizes.isEmpty, Array(x.shape.dimensions.suffix(sizes.count)) == sizes else {
      throw c.emitter.invalid("normalizes axes of \(Shape(sizes)), the input is \(x.shape)")
    }
    let scale = try c.constant(try c.weights(Fields.gamma), Shape(sizes), step: "gamma")
    let shift = try c.constant(try c.weights(Fields.beta), Shape(sizes), step: "beta")
    let op = LayerNormalization(axis: x.shape.rank - sizes.count, epsilon: try c.number(Fields.eps))
    return Blob(try c.emitter.add(op, try c.logical(x), scale, shift), x.shape)
  }
}
