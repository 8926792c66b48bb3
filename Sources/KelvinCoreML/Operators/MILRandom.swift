import KelvinGraph
import KelvinImport

extension MILMapper {
  static let random: [MILMapper] = [
    distribution("random_bernoulli") { c in
      .bernoulli(try c.number("prob") ?? 0.5)
    },
    distribution("random_normal") { c in
      .normal(mean: try c.number("mean") ?? 0, deviation: try c.number("stddev") ?? 1)
    },
    distribution("random_uniform") { c in
      .uniform(low: try c.number("low") ?? 0, high: try c.number("high") ?? 1)
    },
    categorical,
  ]

  private static func distribution(
    _ name: String, _ distribution: @escaping @Sendable (MILContext) throws -> RandomDistribution
  ) -> MILMapper {
    MILMapper(name, valueDependent: ["shape"]) { c in
      let shape = Shape(try c.required("shape", c.integers))
      return try c.emitter.random(distribution(c), shape, c.declaredScalar ?? .float32, seed: c.seed())
    }
  }

  private static let categorical = MILMapper("random_categorical") { c in
    let x = try c.x
    let mode = try c.text("mode") ?? "logits"
    guard mode == "logits" || mode == "probs" else {
      throw c.emitter.invalid("mode '\(mode)', expected 'logits' or 'probs'")
    }
    return try c.emitter.categorical(
      x, isLogarithmic: mode == "logits", count: c.integer("size") ?? 1,
      c.declaredScalar ?? c.emitter.scalar(x), seed: c.seed())
  }
}

extension MILContext {
  /// Returns the seed; nil if the program does not fix it.
  fileprivate func seed() throws -> Int? {
    guard let seed = try integer("seed"), seed != -1 else { return nil }
    return seed
  }
}
