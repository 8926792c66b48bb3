import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  static let normalizations: [LayerMapper] = [
    batchnorm, l2normalize, lrn, meanVariance, softmax, softmaxND, layerNormalization,
  ]

  private static let batchnorm = LayerMapper(Layers.batchnorm) { layer, scope in
    typealias Fields = LayerSchema.BatchnormLayerParams
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let channels = scope.emitter.shape(planes)[1]
    let epsilon = try layer.parameters.number(Fields.epsilon, default: 1e-5)
    let computes = try layer.parameters.flag(Fields.computeMeanVar)
    let shape: Shape = computes ? [channels, 1, 1] : [channels]
    func parameter(_ field: Int, _ step: String, otherwise value: Double) throws -> ValueID {
      if try layer.parameters.message(field) != nil {
        return try scope.constant(try layer.weights(field, scope), shape, step: step)
      }
      let type = TensorType(.float32, shape)
      return scope.emitter.constant(
        Weight(type) { Tensor(type, rounding: [Double](repeating: value, count: type.count)) }, step: step)
    }
    let scale = try parameter(Fields.gamma, "gamma", otherwise: 1)
    let shift = try parameter(Fields.beta, "beta", otherwise: 0)
    if computes {
      let perInstance = try layer.parameters.flag(Fields.instanceNormalization)
      return scope.fromPlanes(
        try scope.emitter.normalize(
          planes, axes: perInstance ? [2, 3] : [0, 2, 3], epsilon: epsilon, scale: scale, shift: shift), x)
    }
    let mean = try parameter(Fields.mean, "mean", otherwise: 0)
    let variance = try parameter(Fields.variance, "variance", otherwise: 1)
    return scope.fromPlanes(
      try scope.emitter.add(BatchNormalization(epsilon: epsilon), planes, scale, shift, mean, variance), x)
  }

  /// `x / sqrt(Σx² + epsilon)` over the last three axes.
  private static let l2normalize = LayerMapper(Layers.l2normalize) { layer, scope in
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let epsilon = try layer.parameters.number(LayerSchema.L2NormalizeLayerParams.epsilon, default: 1e-6)
    let squares = try scope.emitter.add(
      Reduce(.sumOfSquares, axes: [1, 2, 3], keepsDimensions: true), planes, step: "squares")
    let inverse = try scope.emitter.unary(UnaryFunction(.rsqrt, a: epsilon), squares, step: "inverse_length")
    return scope.fromPlanes(try scope.emitter.binary(.multiply, planes, inverse), x)
  }

  private static let lrn = LayerMapper(Layers.lrn) { layer, scope in
    typealias Fields = LayerSchema.LRNLayerParams
    let x = try layer.input(0, scope)
    let size = try layer.parameters.integer(Fields.localSize) ?? 0
    let normalized = try scope.emitter.localResponseNormalize(
      try scope.planes(x), size: size, alpha: try layer.parameters.number(Fields.alpha) ?? 0,
      beta: try layer.parameters.number(Fields.beta) ?? 0, k: try layer.parameters.number(Fields.k, default: 1))
    return scope.fromPlanes(normalized, x)
  }

  /// Subtracts the mean over the rows and columns of each channel, or of all channels, and divides by the standard
  /// deviation.
  private static let meanVariance = LayerMapper(Layers.mvn) { layer, scope in
    typealias Fields = LayerSchema.MeanVarianceNormalizeLayerParams
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let axes = try layer.parameters.flag(Fields.acrossChannels) ? [1, 2, 3] : [2, 3]
    guard try layer.parameters.flag(Fields.normalizeVariance) else {
      let mean = try scope.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), planes, step: "mean")
      return scope.fromPlanes(try scope.emitter.binary(.subtract, planes, mean), x)
    }
    let epsilon = try layer.parameters.number(Fields.epsilon, default: 1e-6)
    return scope.fromPlanes(
      try scope.emitter.normalize(planes, axes: axes, epsilon: epsilon, scale: nil, shift: nil), x)
  }

  /// Softmax over channels; for vectors, over their last axis.
  private static let softmax = LayerMapper(Layers.softmax) { layer, scope in
    let x = try layer.input(0, scope)
    let shape = try scope.planeShape(x)
    if shape[2] == 1, shape[3] == 1 {
      let rows = try scope.view(x, [shape[0], shape[1]])
      return Blob(try scope.emitter.add(Softmax(axis: 1), rows), x.shape)
    }
    return scope.fromPlanes(try scope.emitter.add(Softmax(axis: 1), try scope.planes(x)), x)
  }

  private static let softmaxND = LayerMapper(Layers.softmaxND) { layer, scope in
    let x = try layer.input(0, scope)
    let value = try scope.logical(x)
    let axis = try scope.emitter.axis(
      try layer.parameters.integer(LayerSchema.SoftmaxNDLayerParams.axis) ?? 0, of: value)
    return Blob(try scope.emitter.add(Softmax(axis: axis), value), x.shape)
  }

  /// Normalizes over the last axes, whose sizes are parameters.
  private static let layerNormalization = LayerMapper(Layers.layerNormalization) { layer, scope in
    typealias Fields = LayerSchema.LayerNormalizationLayerParams
    let x = try layer.input(0, scope)
    let sizes = try layer.parameters.integers(Fields.normalizedShape)
    guard !sizes.isEmpty, Array(x.shape.dimensions.suffix(sizes.count)) == sizes else {
      throw scope.emitter.invalid("normalizes axes of \(Shape(sizes)), the input is \(x.shape)")
    }
    let scale = try scope.constant(try layer.weights(Fields.gamma, scope), Shape(sizes), step: "gamma")
    let shift = try scope.constant(try layer.weights(Fields.beta, scope), Shape(sizes), step: "beta")
    let op = LayerNormalization(
      axis: x.shape.rank - sizes.count, epsilon: try layer.parameters.number(Fields.eps) ?? 0)
    return Blob(try scope.emitter.add(op, try scope.logical(x), scale, shift), x.shape)
  }
}
