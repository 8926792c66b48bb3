import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  /// Reads a Bayesian probit regressor. An output that has none of the names of the other results is the probability. A
  /// model that declares the randomly sampled output is refused.
  func bayesianProbitRegressor() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.BayesianProbitRegressor
    typealias Value = Fields.FeatureValueWeight
    guard let bias = try parameters.message(Fields.bias) else { throw malformed("it has no bias") }
    var weights: [BayesianProbit.Key: BayesianProbit.Gaussian] = [:]
    try parameters.each(Fields.features) { (field) throws(FormatError) in
      let feature = LayerParameters(try field.message())
      let number = Int64(try feature.integer(Fields.FeatureWeight.featureId) ?? 0)
      try feature.each(Fields.FeatureWeight.weights) { (field) throws(FormatError) in
        try field.check(weights.count, WireMessage.operationLimit)
        let entry = LayerParameters(try field.message())
        let key = BayesianProbit.Key(feature: number, value: Int64(try entry.integer(Value.featureValue) ?? 0))
        guard let weight = try entry.message(Value.featureWeight) else { return }
        weights[key] = try gaussian(weight, "feature \(key.feature), value \(key.value)")
      }
    }
    let event = try parameters.text(Fields.regressionInputFeatureName)
    guard inputs.contains(where: { $0.name == event }) else {
      throw malformed("its event input '\(event)' is not one of its inputs")
    }
    let optimism = try parameters.text(Fields.optimismInputFeatureName)
    let sampled = try parameters.text(Fields.sampledProbabilityOutputFeatureName)
    let others: [(name: String, result: BayesianProbit.Result)] = [
      (try parameters.text(Fields.meanOutputFeatureName), .mean),
      (try parameters.text(Fields.varianceOutputFeatureName), .variance),
      (try parameters.text(Fields.pessimisticProbabilityOutputFeatureName), .shifted),
    ]
    var results: [(output: String, result: BayesianProbit.Result)] = []
    for output in outputs {
      guard output.name != sampled else {
        throw FormatError(
          .unsupported, file: message.file, place: kind, offset: message.offset,
          "its output '\(sampled)' is drawn at random, by rules that the format does not define",
          remedy: "remove the output from the model's description")
      }
      results.append((output.name, others.first { $0.name == output.name }?.result ?? .probability))
    }
    let step = BayesianProbit(
      featureCount: try parameters.integer(Fields.numberOfFeatures) ?? 0, bias: try gaussian(bias, "bias"),
      weights: weights, event: event, shift: inputs.contains { $0.name == optimism } ? optimism : nil, results: results)
    return stage(step: step)
  }

  private func gaussian(
    _ parameters: LayerParameters, _ place: String
  ) throws(FormatError) -> BayesianProbit.Gaussian {
    typealias Fields = ClassicalSchema.BayesianProbitRegressor.Gaussian
    let precision = try parameters.double(Fields.precision) ?? 0
    guard precision > 0 else {
      throw parameters.message.malformed(place, "its precision is \(precision), expected a number above 0")
    }
    return BayesianProbit.Gaussian(mean: try parameters.double(Fields.mean) ?? 0, variance: 1 / precision)
  }
}
