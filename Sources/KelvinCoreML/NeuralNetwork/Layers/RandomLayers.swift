import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

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

  private typealias Distribution = @Sendable (NetworkLayer) throws -> RandomDistribution

  private static func shaped(
    _ number: Int, valueDependent: Set<Int> = [], readsOnlyShapes: Bool = false, _ distribution: @escaping Distribution,
    _ shape: @escaping @Sendable (NetworkLayer, LayerScope) throws -> [Int]
  ) -> LayerMapper {
    LayerMapper(number, valueDependent: valueDependent, readsOnlyShapes: readsOnlyShapes) { layer, scope in
      let shape = Shape(try shape(layer, scope))
      guard shape.rank <= Emitter.rankLimit else { throw scope.emitter.invalid("fills \(shape)") }
      return scope.ranked(try scope.emitter.random(distribution(layer), shape, .float32, seed: layer.seed()))
    }
  }

  private static func like(_ number: Int, _ distribution: @escaping Distribution) -> LayerMapper {
    shaped(number, readsOnlyShapes: true, distribution) { layer, scope in try layer.raw(0, scope).shape.dimensions }
  }

  private static func dynamic(_ number: Int, _ distribution: @escaping Distribution) -> LayerMapper {
    shaped(number, valueDependent: [0], distribution) { layer, scope in try layer.knownIntegers(0, scope) }
  }

  private static func fixed(_ number: Int, _ shape: Int, _ distribution: @escaping Distribution) -> LayerMapper {
    shaped(number, distribution) { layer, _ in try layer.parameters.integers(shape) }
  }

  /// Draws classes by `softmax(logits / temperature)`. If the input holds probabilities, the logits are `ln(p + eps)`.
  private static let categorical = LayerMapper(Layers.categoricalDistribution) { layer, scope in
    typealias Fields = LayerSchema.CategoricalDistributionLayerParams
    let emitter = scope.emitter
    var x = try scope.logical(try layer.input(0, scope))
    var isLogarithmic = try layer.parameters.flag(Fields.isLogits)
    let temperature = try layer.parameters.number(Fields.temperature, default: 1)
    if !isLogarithmic, temperature != 1 {
      let eps = try layer.parameters.number(Fields.eps, default: 1e-10)
      let above = try emitter.unary(UnaryFunction(.affine, a: 1, b: eps), x, step: "above_zero")
      x = try emitter.unary(UnaryFunction(.log), above, step: "logits")
      isLogarithmic = true
    }
    if temperature != 1 {
      x = try emitter.unary(UnaryFunction(.affine, a: 1 / temperature, b: 0), x, step: "tempered")
    }
    return scope.ranked(
      try emitter.categorical(
        x, isLogarithmic: isLogarithmic, count: layer.parameters.integer(Fields.numSamples, default: 1), .float32,
        seed: layer.seed()))
  }
}

/// Parameters of random layers. The layers with the shape of another tensor, of an input and of a parameter have those
/// of their distribution in fields of the same numbers.
extension NetworkLayer {
  fileprivate func normal() throws -> RandomDistribution {
    typealias Fields = LayerSchema.RandomNormalLikeLayerParams
    return .normal(mean: try parameters.number(Fields.mean) ?? 0, deviation: try parameters.number(Fields.stdDev) ?? 0)
  }

  fileprivate func uniform() throws -> RandomDistribution {
    typealias Fields = LayerSchema.RandomUniformLikeLayerParams
    return .uniform(low: try parameters.number(Fields.minVal) ?? 0, high: try parameters.number(Fields.maxVal) ?? 0)
  }

  fileprivate func bernoulli() throws -> RandomDistribution {
    .bernoulli(try parameters.number(LayerSchema.RandomBernoulliLikeLayerParams.prob) ?? 0)
  }

  /// Returns the seed; nil if the network does not fix it.
  fileprivate func seed() throws -> Int? {
    let seed = try parameters.integer(LayerSchema.RandomNormalLikeLayerParams.seed) ?? 0
    return seed == -1 ? nil : seed
  }
}
