import KelvinGraph
import KelvinImport

extension MILMapper {
  static let random: [MILMapper] = [
    distribution("random_bernoulli") { operation, scope in
      .bernoulli(try operation.number("prob", scope) ?? 0.5)
    },
    distribution("random_normal") { operation, scope in
      .normal(mean: try operation.number("mean", scope) ?? 0, deviation: try operation.number("stddev", scope) ?? 1)
    },
    distribution("random_uniform") { operation, scope in
      .uniform(low: try operation.number("low", scope) ?? 0, high: try operation.number("high", scope) ?? 1)
    },
    categorical,
  ]

  private static func distribution(
    _ name: String, _ distribution: @escaping @Sendable (MILOperation, MILScope) throws -> RandomDistribution
  ) -> MILMapper {
    MILMapper(name, valueDependent: ["shape"]) { operation, scope in
      let shape = Shape(try operation.required(try operation.integers("shape", scope), "shape", scope))
      return try scope.emitter.random(
        distribution(operation, scope), shape, operation.outputs.first?.type.scalar ?? .float32,
        seed: operation.seed(scope))
    }
  }

  private static let categorical = MILMapper("random_categorical") { operation, scope in
    let x = try operation.value("x", scope)
    let mode = try operation.text("mode", scope) ?? "logits"
    guard mode == "logits" || mode == "probs" else {
      throw scope.emitter.invalid("mode '\(mode)', expected 'logits' or 'probs'")
    }
    return try scope.emitter.categorical(
      x, isLogarithmic: mode == "logits", count: operation.integer("size", scope) ?? 1,
      operation.outputs.first?.type.scalar ?? scope.emitter.scalar(x), seed: operation.seed(scope))
  }
}

extension MILOperation {
  /// Returns the seed; nil if the program does not fix it.
  fileprivate func seed(_ scope: MILScope) throws -> Int? {
    guard let seed = try integer("seed", scope), seed != -1 else { return nil }
    return seed
  }
}
