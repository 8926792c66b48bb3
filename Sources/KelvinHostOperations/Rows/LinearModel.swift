import Glibc
import KelvinBasics

/// A generalized linear model: `transform(W · x + b)`.
package struct LinearModel: RowFunction {
  package static let name = "linear_model"

  package enum Transform: Hashable, Sendable {
    case none
    /// The logistic function.
    case logit
    /// The cumulative distribution function of the standard normal distribution.
    case probit

    func callAsFunction(_ x: Double) -> Double {
      switch self {
      case .none: x
      case .logit: logistic(x)
      case .probit: 0.5 * erfc(-x * 0.5.squareRoot())
      }
    }
  }

  /// The conversion of scores to results.
  package enum Outcome: Hashable, Sendable {
    /// The scores are the results.
    case scores
    case transformed(ScoreTransform)
    /// The only score is the probability of the second of two classes.
    case second
    /// Each score is divided by their sum.
    case shares
    /// A score of 0 is prepended, and softmax gives the results.
    case softmaxWithReference
  }

  /// One row of `width` numbers for each score.
  package let weights: [Double]
  package let offsets: [Double]
  package let width: Int
  package let transform: Transform
  package let outcome: Outcome

  /// Creates the model.
  ///
  /// - Precondition: `weights` has `width` numbers for each offset. There is one offset if the outcome is `second`.
  package init(
    weights: [Double], offsets: [Double], width: Int, transform: Transform = .none, outcome: Outcome = .scores
  ) {
    precondition(weights.count == width * offsets.count && (outcome != .second || offsets.count == 1))
    self.weights = weights
    self.offsets = offsets
    self.width = width
    self.transform = transform
    self.outcome = outcome
  }

  /// Returns the model with another outcome.
  package func with(_ outcome: Outcome) -> LinearModel {
    LinearModel(weights: weights, offsets: offsets, width: width, transform: transform, outcome: outcome)
  }

  package var widths: ClosedRange<Int> { width...width }

  package func resultCount(of width: Int) -> Int {
    switch outcome {
    case .scores, .transformed, .shares: offsets.count
    case .second, .softmaxWithReference: offsets.count + 1
    }
  }

  package func results(_ rows: NumberRows) -> [Double] {
    var results: [Double] = []
    results.reserveCapacity(rows.count * resultCount(of: width))
    for row in 0..<rows.count {
      let scores = scores(rows, row).map { transform($0) }
      switch outcome {
      case .scores: results += scores
      case .transformed(let transform): results += transform(scores)
      case .second: results += [1 - scores[0], scores[0]]
      case .shares:
        let sum = scores.reduce(0, +)
        results += scores.map { $0 / sum }
      case .softmaxWithReference: results += softmax([0] + scores)
      }
    }
    return results
  }

  /// Returns `W · x + b` of one row: products are added in order, and the offset is added to their sum.
  func scores(_ rows: NumberRows, _ row: Int) -> [Double] {
    rows.numbers.withUnsafeBufferPointer { numbers in
      weights.withUnsafeBufferPointer { weights in
        offsets.indices.map { index in
          var sum = 0.0
          for place in 0..<width { sum += weights[index * width + place] * numbers[row * width + place] }
          return sum + offsets[index]
        }
      }
    }
  }
}
