package import KelvinGraph

/// The distribution of random numbers.
package enum RandomDistribution {
  /// Uniform over `[low, high)`.
  case uniform(low: Float, high: Float)
  case normal(mean: Float, deviation: Float)
  /// 1 with this probability, else 0.
  case bernoulli(Float)
}

extension Emitter {
  /// Returns random numbers, computed in float32.
  package func random(_ distribution: RandomDistribution, _ shape: Shape, _ scalar: ScalarType, seed: Int?) throws
    -> ValueID
  {
    let key = try add(RandomKey(seed: seed), step: "key")
    let step = scalar == .float32 ? nil : "numbers"
    switch distribution {
    case .uniform(let low, let high):
      let shares = try uniform(key, shape, step: "shares")
      return try cast(unary(UnaryFunction(.affine, a: high - low, b: low), shares, step: step), to: scalar)
    case .normal(let mean, let deviation):
      let deviates = try standardNormal(key, shape)
      return try cast(unary(UnaryFunction(.affine, a: deviation, b: mean), deviates, step: step), to: scalar)
    case .bernoulli(let probability):
      let limit = constant(Double(probability), .float32, step: "probability")
      return try bernoulli(limit, shape, scalar, key)
    }
  }

  /// Returns 1 where a random number over [0, 1) is below the probability, else 0.
  package func bernoulli(_ probabilities: ValueID, _ scalar: ScalarType, seed: Int?) throws -> ValueID {
    let limits = try cast(probabilities, to: .float32, step: "probabilities")
    return try bernoulli(limits, shape(limits), scalar, add(RandomKey(seed: seed), step: "key"))
  }

  private func bernoulli(_ limits: ValueID, _ shape: Shape, _ scalar: ScalarType, _ key: ValueID) throws -> ValueID {
    let shares = try uniform(key, shape, step: "shares")
    let isBelow = try add(Compare(.less), shares, limits, step: scalar == .bool ? nil : "is_below")
    return try cast(isBelow, to: scalar)
  }

  /// Draws indices of classes: `[…, classes]` gives `[…, count]`.
  ///
  /// The drawn class is the one at which the running sum of weights exceeds a random fraction of their sum.
  ///
  /// - Parameter isLogarithmic: Whether weights are logarithms; weights do not need to add up to 1.
  package func categorical(
    _ x: ValueID, isLogarithmic: Bool, count: Int, _ scalar: ScalarType, seed: Int?
  ) throws -> ValueID {
    let sizes = shape(x)
    guard let classes = sizes.dimensions.last, classes > 0, count > 0 else {
      throw invalid("draws \(count) of classes \(type(x)), expected at least one of each")
    }
    let outer = sizes.dimensions.dropLast().reduce(1, *)
    guard Shape([outer, count, classes]).isAddressable else {
      throw invalid("\(count) draws of \(type(x)) are too many")
    }
    let rows = try reshape(cast(x, to: .float32, step: "wide"), [outer, classes], step: "rows")
    let weights = isLogarithmic ? try add(Softmax(axis: 1), rows, step: "weights") : rows
    let sums = try add(CumulativeReduce(.sum, axis: 1), weights, step: "sums")
    let total = try add(Reduce(.maximum, axes: [1], keepsDimensions: true), sums, step: "total")
    let shares = try uniform(add(RandomKey(seed: seed), step: "key"), [outer, count], step: "shares")
    let marks = try binary(.multiply, shares, total, step: "marks")
    let isPassed = try add(
      Compare(.lessOrEqual), reshape(sums, [outer, 1, classes], step: "bounds"),
      reshape(marks, [outer, count, 1], step: "mark_columns"), step: "is_passed")
    let passed = try add(
      Reduce(.sum, axes: [2], keepsDimensions: false), cast(isPassed, to: .int32, step: "passed"), step: "classes")
    let last = constant(Double(classes - 1), .int32, step: "last")
    let drawn = try cast(binary(.minimum, passed, last, step: "drawn"), to: scalar, step: "numbers")
    return try reshape(drawn, Shape(sizes.dimensions.dropLast() + [count]))
  }

  private func uniform(_ key: ValueID, _ shape: Shape, stream: Int = 0, step: String) throws -> ValueID {
    try add(RandomUniform(shape, stream: stream), key, step: step)
  }

  /// `sqrt(-2 ln u) cos(2π v)` of u over (0, 1] and v over [0, 1): Box and Muller, A Note on the Generation of Random
  /// Normal Deviates (1958).
  private func standardNormal(_ key: ValueID, _ shape: Shape) throws -> ValueID {
    let u = try unary(UnaryFunction(.affine, a: -1, b: 1), uniform(key, shape, step: "first"), step: "above_zero")
    let squared = try unary(
      UnaryFunction(.affine, a: -2, b: 0), unary(UnaryFunction(.log), u, step: "logarithm"), step: "squared")
    let radius = try unary(UnaryFunction(.sqrt), squared, step: "radius")
    let v = try uniform(key, shape, stream: 1, step: "second")
    let angle = try unary(UnaryFunction(.affine, a: 2 * .pi, b: 0), v, step: "angle")
    return try binary(.multiply, radius, unary(UnaryFunction(.cos), angle, step: "direction"), step: "deviates")
  }
}
