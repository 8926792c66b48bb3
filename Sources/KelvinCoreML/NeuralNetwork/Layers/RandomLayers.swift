import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let random: [LayerMapper] = [
    like(Layers.randomNormalLike) { try $0.normal() },
    like(Layers.randomUniformLike) { try $0.uniform() },
    like(Layers.randomBernoulliLike) { try $0.bernoulli() },
    dynamic(Layers.randomNormalDynamic) { try $0.normal() },
    dynamic(Layers.randomUniformDynamic) { try $0.uniform() },
    dynamic(Layers.randomBernoulliDynamic) { try $0.bernoulli() },
    fixed(Layers.randomNormalStatic, LayerSchema.RandomNormalStaticLayerParams.outputShape) { try $0.normal() },
    fixed(Layers.randomUniformStatic, LayerSchema.RandomUniformStaticLayerParams.outputShape) { try $0.uniform() },
    fixed(Layers.randomBernoulliStatic, LayerSchema.RandomBernoulliStaticLayerParams.outputShape) {
      try $0.bernoulli()
    },
    categorical,
  ]

  private typealias Distribution = @Sendable (LayerContext) throws -> RandomDistribution

  private static func shaped(
    _ number: Int, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false, _ distribution: @escaping Distribution,
    _ shape: @escaping @Sendable (LayerContext) throws -> [Int]
  ) -> LayerMapper {
    LayerMapper(number, valueDependent: valueDependent, readsOnlyShapes: readsOnlyShapes) { c in
      let shape = Shape(try shape(c))
      guard shape.rank <= Emitter.rankLimit else { throw c.emitter.invalid("fills \(shape)") }
      return c.ranked(try c.emitter.random(distribution(c), shape, .float32, seed: c.seed()))
    }
  }

  private static func like(_ number: Int, _ distribution: @escaping Distribution) -> LayerMapper {
    shaped(number, readsOnlyShapes: true, distribution) { c in try c.raw(0).shape.dimensions }
  }

  private static func dynamic(_ number: Int, _ distribution: @escaping Distribution) -> LayerMapper {
    shaped(number, valueDependent: [0], distribution) { c in try c.knownIntegers(0) }
  }

  private static func fixed(_ number: Int, _ shape: Int, _ distribution: @escaping Distribution) -> LayerMapper {
    shaped(number, distribution) { c in try c.integers(shape) }
  }

  /// Draws classes by `softmax(logits / temperature)`. If the input holds probabilities, the logits are `ln(p + eps)`.
  private static let categorical = LayerMapper(Layers.categoricalDistribution) { c in
    typealias Fields = LayerSchema.CategoricalDistributionLayerParams
    let emitter = c.emitter
    var x = try c.logical(0)
    var isLogarithmic = try c.flag(Fields.isLogits)
    let temperature = try c.number(Fields.temperature, default: 1)
    if !isLogarithmic, temperature != 1 {
      let eps = try c.number(Fields.eps, default: 1e-10)
      let above = try emitter.unary(UnaryFunction(.affine, a: 1, b: eps), x, step: "above_zero")
      x = try emitter.unary(UnaryFunction(.log), above, step: "logits")
      isLogarithmic = true
    }
    if temperature != 1 {
      x = try emitter.unary(UnaryFunction(.affine, a: 1 / temperature, b: 0), x, step: "tempered")
    }
    return c.ranked(
      try emitter.categorical(
        x, isLogarithmic: isLogarithmic, count: c.integer(Fields.numSamples, default: 1), .float32,
        seed: c.seed()))
  }
}

/// Parameters of random layers. The layers with the shape of another tensor, of an input and of a parameter have those
/// of their distribution in fields of the same numbers.
extension LayerContext {
  fileprivate func normal() throws -> RandomDistribution {
    typealias Fields = LayerSchema.RandomNormalLikeLayerParams
    return .normal(mean: try number(Fields.mean), deviation: try number(Fields.stdDev))
  }

  fileprivate func uniform() throws -> RandomDistribution {
    typealias Fields = LayerSchema.RandomUniformLikeLayerParams
    return .uniform(low: try number(Fields.minVal), high: try number(Fields.maxVal))
  }

  fileprivate func bernoulli() throws -> RandomDistribution {
    .bernoulli(try number(LayerSchema.RandomBernoulliLikeLayerParams.prob))
  }

  /// Returns the seed; nil if the network does not fix it.
  fileprivate func seed() throws -> Int? {
    let seed = try integer(LayerSchema.RandomNormalLikeLayerParams.seed)
    return seed == -1 ? nil : seed
  }
}
