import FoundationEssentials
import Glibc
import Kelvin

/// The outputs of a model for samples.
struct ModelOutputs: Sendable {
  /// By sample, the numbers of all outputs, in the order of their names.
  private(set) var numbers: [[Double]] = []
  /// By sample, the label of a classifier; nil for other models.
  private(set) var labels: [String?] = []
  /// The median time of a prediction.
  private(set) var time = Duration.zero
  /// Whether the numbers are the probabilities of classes.
  private let isClassifier: Bool

  init(of model: Model, for samples: [DictionaryFeatureProvider]) async throws(ModelError) {
    let description = model.modelDescription
    isClassifier = description.predictedProbabilitiesName != nil
    var times: [Duration] = []
    for sample in samples {
      let start = ContinuousClock.now
      let output = try await model.prediction(from: sample)
      times.append(ContinuousClock.now - start)
      let label = description.predictedFeatureName.flatMap { output[$0] }
      labels.append(label.map { $0.stringValue ?? "\($0.int64Value ?? 0)" })
      numbers.append(Self.numbers(of: output, description))
    }
    time = times.sorted()[times.count / 2]
  }

  /// Returns the outputs for some of the samples.
  func samples(_ places: [Int]) -> ModelOutputs {
    var part = self
    (part.numbers, part.labels) = (places.map { numbers[$0] }, places.map { labels[$0] })
    return part
  }

  private static func numbers(of output: DictionaryFeatureProvider, _ description: ModelDescription) -> [Double] {
    if let name = description.predictedProbabilitiesName, let shares = output[name]?.dictionaryValue {
      return description.classLabels.map { shares[$0] ?? 0 }
    }
    return description.outputNames.sorted().flatMap { name -> [Double] in
      guard let value = output[name] else { return [] }
      if let array = value.multiArrayValue { return array.doubles }
      if let pixels = value.imageBufferValue { return pixels.bytes.map(Double.init) }
      return value.doubleValue.map { [$0] } ?? value.int64Value.map { [Double($0)] } ?? []
    }
  }

  /// The mean over the samples of the change of the outputs: for probabilities their Kullback-Leibler divergence in
  /// nats, for other numbers the sum of squared differences by the sum of squares. Not finite if an output is not.
  func change(to other: ModelOutputs) -> Double {
    var sum = 0.0
    for (before, after) in zip(numbers, other.numbers) {
      sum += isClassifier ? Self.divergence(before, after) : Self.relativeError(before, after)
    }
    return numbers.isEmpty ? 0 : sum / Double(numbers.count)
  }

  /// The mean over the samples of the cosine of the outputs of both.
  func cosine(to other: ModelOutputs) -> Double {
    var sum = 0.0
    for (before, after) in zip(numbers, other.numbers) {
      var (product, first, second) = (0.0, 0.0, 0.0)
      for (a, b) in zip(before, after) {
        product += a * b
        first += a * a
        second += b * b
      }
      let lengths = (first * second).squareRoot()
      // Two outputs of zeros are equal.
      sum += lengths > 0 ? product / lengths : first == second ? 1 : 0
    }
    return numbers.isEmpty ? 1 : sum / Double(numbers.count)
  }

  private static func divergence(_ before: [Double], _ after: [Double]) -> Double {
    // Probabilities below this contribute nothing.
    let least = 1e-12
    return zip(before, after).reduce(0) { sum, pair in
      pair.0 > least ? sum + pair.0 * (log(pair.0) - log(max(pair.1, least))) : sum
    }
  }

  private static func relativeError(_ before: [Double], _ after: [Double]) -> Double {
    var (error, squares) = (0.0, 0.0)
    for (first, second) in zip(before, after) {
      error += (first - second) * (first - second)
      squares += first * first
    }
    return error / max(squares, 1e-30)
  }
}
