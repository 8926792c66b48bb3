import KelvinGraph

/// An integer product with a requantization, and the equivalent float product.
struct IntegerProduct {
  let op: any Operator
  /// The product without requantization.
  let plain: any Operator
  /// The axis of the result's channels; nil for the last axis.
  let channelAxis: Int?
  /// The axis of the weights along which their zero points vary.
  let weightsAxis: Int

  /// Returns the same computation in floating point, on the integers' values; exact for sums up to 2^24.
  ///
  /// - Parameters:
  ///   - types: The types of the node's inputs: x, weights, their zero points, bias, scale, the result's zero point.
  ///   - weights: The second input if it is constant.
  ///   - bias: The fifth input if it is not zero.
  func body(
    types: [TensorType], weights: Weight?, weightsZero: Weight?, bias: Weight?, scales: [Float],
    output: QuantizedValue, name: String
  ) throws(GraphError) -> Graph {
    var body = Graph(bodyOf: types)
    let all = body.inputs
    let one = body.constant("one", Weight(Tensor([Float(1)], [1])))
    let x = try body.append(Dequantize(), [all[0], one, all[2]], "x")
    let factor: ValueID
    if let weights, let weightsZero {
      factor = body.constant("weights", try weights.differences(from: weightsZero, along: weightsAxis))
    } else {
      factor = try body.append(Dequantize(), [all[1], one, all[3]], "weights")
    }
    let addends = bias.map { bias in
      Weight(TensorType(.float32, bias.type.shape), from: [bias]) { bias.dense().converted(to: .float32) }
    }
    var sums: ValueID
    if let addends, let biased {
      sums = try body.append(biased, [x, factor, body.constant("bias", addends)], "sums")
    } else {
      sums = try body.append(plain, [x, factor], "sums")
    }
    let rank = body[sums].type.shape.rank
    func alongChannels(_ values: Weight) -> Weight {
      var sizes = [Int](repeating: 1, count: rank)
      sizes[channelAxis ?? rank - 1] = values.type.count
      return values.viewed(as: Shape(sizes))
    }
    if let addends, biased == nil {
      sums = try body.append(Binary(.add), [sums, body.constant("bias", alongChannels(addends))], "biased")
    }
    let scale = body.constant("scale", alongChannels(Weight(Tensor(scales, [scales.count]))))
    sums = try body.append(Binary(.multiply), [sums, scale], "scaled")
    if let bounds = requantization, let range = output.scalar.quantizedRange,
      bounds.lower > range.lowerBound || bounds.upper < range.upperBound
    {
      let clip = UnaryFunction.clip(Float(bounds.lower - output.zero), Float(bounds.upper - output.zero))
      sums = try body.append(Unary(clip), [sums], "clipped")
    }
    body.outputs = [try body.append(Quantize(scalar: output.scalar), [sums, one, all[6]], "quantized")]
    return body
  }

  /// The product with a bias, if the operator has one.
  private var biased: (any Operator)? {
    guard var fused = plain as? any FusedOperator else { return nil }
    fused.epilogue = .bias
    return fused
  }

  private var requantization: Requantization? {
    (op as? ConvolutionInteger)?.requantization ?? (op as? MatMulInteger)?.requantization
  }
}

extension Weight {
  /// Returns 8-bit weights minus their zero points, in float32.
  fileprivate func differences(from zero: Weight, along axis: Int) throws(GraphError) -> Weight {
    var blocks = [Int](repeating: 1, count: type.shape.rank)
    if zero.type.count > 1 { blocks[axis] = zero.type.count }
    let shape = Shape(blocks)
    let ones = TensorType(.float32, shape)
    return try Weight(
      affine: self, scale: Weight(Tensor([Float](repeating: 1, count: ones.count), shape)),
      offset: zero.viewed(as: shape))
  }
}
