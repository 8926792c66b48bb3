import Glibc
import KelvinBasics

/// The transformation of a row of scores.
package enum ScoreTransform: Hashable, Sendable {
  case none, softmax, logistic
  /// Like `softmax`, but scores of 0 stay 0.
  case softmaxOfOthers
  /// The inverse cumulative distribution function of the standard normal distribution, in ONNX's approximation.
  case probit

  package func callAsFunction(_ scores: [Double]) -> [Double] {
    switch self {
    case .none: return scores
    case .softmax: return KelvinBasics.softmax(scores)
    case .logistic: return scores.map(KelvinBasics.logistic)
    case .probit: return scores.map { 2.0.squareRoot() * Self.inverseErrorFunction(2 * $0 - 1) }
    case .softmaxOfOthers:
      let largest = scores.max() ?? 0
      let powers = scores.map { $0.magnitude > 1e-7 ? exp($0 - largest) : $0 * exp(-largest) }
      let sum = powers.reduce(0, +)
      return powers.map { sum == 0 ? 0.5 : $0 / sum }
    }
  }

  /// Winitzki's approximation.
  private static func inverseErrorFunction(_ x: Double) -> Double {
    let product = (1 - x) * (1 + x)
    guard product != 0 else { return x < 0 ? -.infinity : .infinity }
    let a = 0.147
    let half = 2 / (Double.pi * a) + 0.5 * log(product)
    let root = ((half * half - log(product) / a).squareRoot() - half).squareRoot()
    return x < 0 ? -root : root
  }
}
