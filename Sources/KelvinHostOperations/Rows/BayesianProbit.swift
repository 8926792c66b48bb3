import Glibc
package import KelvinGraph

/// Probit regression whose weights are normal distributions, one for each value of each feature (Core ML's
/// `bayesianProbitRegressor`; Graepel et al., "Web-scale Bayesian click-through rate prediction", 2010).
///
/// The sum of an event's weights and the bias has a mean m and a variance v. The probability of the event is Φ(m / √(1
/// + v)), the mean of Φ over the weights. A value without a weight adds nothing.
package struct BayesianProbit: HostOperation {
  package static let name = "bayesian_probit"

  package struct Gaussian: Hashable, Sendable {
    package let mean: Double
    package let variance: Double

    package init(mean: Double, variance: Double) {
      self.mean = mean
      self.variance = variance
    }
  }

  /// One value of one feature.
  package struct Key: Hashable, Sendable {
    package let feature: Int64
    package let value: Int64

    package init(feature: Int64, value: Int64) {
      self.feature = feature
      self.value = value
    }
  }

  package enum Result: Hashable, Sendable {
    case probability
    /// The mean or variance of the sum of the weights.
    case mean, variance
    /// The probability after the mean is shifted by the number of standard deviations in the second input.
    case shifted
  }

  package let featureCount: Int
  package let bias: Gaussian
  package let weights: [Key: Gaussian]
  /// The values of an event, `[features]`, or rows of a feature and its value, `[count, 2]`. An optional second input
  /// is the number of standard deviations by which the mean is shifted.
  package let inputs: [String]
  package let outputs: [String]
  /// The kind of each output.
  package let results: [Result]

  package init(
    featureCount: Int, bias: Gaussian, weights: [Key: Gaussian], event: String, shift: String?,
    results: [(output: String, result: Result)]
  ) {
    self.featureCount = featureCount
    self.bias = bias
    self.weights = weights
    inputs = [event] + (shift.map { [$0] } ?? [])
    outputs = results.map(\.output)
    self.results = results.map(\.result)
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    outputs.map { _ in .tensor(TensorType(.float64, [1])) }
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var (mean, variance) = (bias.mean, bias.variance)
    for key in try event(tensor(0, inputs)) {
      guard let weight = weights[key] else { continue }
      mean += weight.mean
      variance += weight.variance
    }
    var shift = 0.0
    if inputs.count > 1, results.contains(.shifted) {
      guard let given = try tensor(1, inputs).doubles.first else { throw refused(1, "it is empty, expected a number") }
      shift = given * variance.squareRoot()
    }
    let scale = (1 + variance).squareRoot()
    return results.map { result in
      let number =
        switch result {
        case .mean: mean
        case .variance: variance
        case .probability: LinearModel.Transform.probit(mean / scale)
        case .shifted: LinearModel.Transform.probit((mean + shift) / scale)
        }
      return .tensor(Tensor(TensorType(.float64, [1]), rounding: [number]))
    }
  }

  private func event(_ tensor: Tensor) throws(HostOperationError) -> [Key] {
    let numbers = tensor.doubles
    if let wrong = numbers.first(where: { $0.rounded() != $0 || $0.magnitude >= 0x1p53 }) {
      throw refused(0, "\(wrong) is not a whole number; values of features must be")
    }
    let whole = numbers.map { Int64($0) }
    if tensor.shape.rank == 2, tensor.shape[1] == 2 {
      return stride(from: 0, to: whole.count, by: 2).map { Key(feature: whole[$0], value: whole[$0 + 1]) }
    }
    guard whole.count == featureCount else {
      throw refused(
        0, "it has the shape \(tensor.shape), expected \(featureCount) values or rows of a feature and its value")
    }
    return whole.enumerated().map { Key(feature: Int64($0), value: $1) }
  }
}
