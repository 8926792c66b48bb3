import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let random: [ONNXMapper] = [
    shaped("RandomNormal") { $0.normal },
    shaped("RandomUniform") { $0.uniform },
    like("RandomNormalLike") { $0.normal },
    like("RandomUniformLike") { $0.uniform },
    bernoulli, multinomial,
  ]

  private static func shaped(
    _ name: String, _ distribution: @escaping @Sendable (ONNXOperation) -> RandomDistribution
  ) -> ONNXMapper {
    ONNXMapper(name) { c in
      guard let sizes = c.integers("shape") else { throw c.emitter.invalid("has no shape") }
      return [
        try c.emitter.random(distribution(c), Shape(sizes), c.drawnType(default: .float32), seed: c.seed)
      ]
    }
  }

  private static func like(
    _ name: String, _ distribution: @escaping @Sendable (ONNXOperation) -> RandomDistribution
  ) -> ONNXMapper {
    ONNXMapper(name, readsOnlyShapes: true) { c in
      let x = try c.input(0)
      let scalar = try c.drawnType(default: c.emitter.scalar(x))
      return [try c.emitter.random(distribution(c), c.emitter.shape(x), scalar, seed: c.seed)]
    }
  }

  private static let bernoulli = ONNXMapper("Bernoulli") { c in
    let x = try c.input(0)
    return [try c.emitter.bernoulli(x, c.drawnType(default: c.emitter.scalar(x)), seed: c.seed)]
  }

  private static let multinomial = ONNXMapper("Multinomial") { c in
    let x = try c.input(0)
    guard c.emitter.shape(x).rank == 2 else {
      throw c.emitter.invalid("expected [batch, classes], got \(c.emitter.type(x))")
    }
    return [
      try c.emitter.categorical(
        x, isLogarithmic: true, count: c.integer("sample_size", default: 1), c.drawnType(default: .int32), seed: c.seed)
    ]
  }
}

extension ONNXOperation {
  fileprivate var normal: RandomDistribution {
    .normal(mean: float("mean", default: 0), deviation: float("scale", default: 1))
  }

  fileprivate var uniform: RandomDistribution {
    .uniform(low: float("low", default: 0), high: float("high", default: 1))
  }

  /// The bits of the seed, which is a float; nil if the model does not fix it.
  fileprivate var seed: Int? { (node.attributes["seed"]?.float).map { Int($0.bitPattern) } }

  fileprivate func drawnType(default scalar: ScalarType) throws -> ScalarType {
    guard let number = node.attributes["dtype"]?.integer else { return scalar }
    guard let named = ScalarType(onnx: number) else { throw unsupported("ONNX's type number \(number)") }
    return named
  }
}
