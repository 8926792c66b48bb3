import KelvinBasics

/// A classifier with one machine for each pair of classes, as libsvm trains them.
package struct SupportVectorClassifier: RowClassifier, RowFunction {
  package static let name = "support_vector_classifier"

  /// The kind of scores.
  package enum Scores: Hashable, Sendable {
    /// The number of machines that vote for each class.
    case votes
    /// The decision values of the machines; for two classes, one for each class.
    case decisions(ScoreTransform)
    /// Sigmoids of the decision values `s`, `1 / (1 + exp(a · s + b))`. For two classes the probabilities follow from
    /// the single sigmoid, unless `isCoupled` selects the algorithm for more classes.
    case probabilities(a: [Double], b: [Double], isCoupled: Bool)
  }

  package let vectors: SupportVectors
  /// The number of vectors of each class; vectors are in the order of classes.
  package let counts: [Int]
  /// For each vector, one coefficient in each machine of its class. The matrix has one row less than there are classes,
  /// and one column per vector.
  package let coefficients: [Double]
  /// The offsets of the decision values of the machines for classes 0 and 1, 0 and 2, … 1 and 2, ….
  package let offsets: [Double]
  package let scores: Scores

  /// Creates the classifier.
  ///
  /// - Precondition: There are at least two classes, and all lists have the corresponding lengths.
  package init(
    _ vectors: SupportVectors, counts: [Int], coefficients: [Double], offsets: [Double], scores: Scores
  ) {
    let pairs = counts.count * (counts.count - 1) / 2
    precondition(counts.count > 1 && counts.reduce(0, +) == vectors.count && offsets.count == pairs)
    precondition(coefficients.count == vectors.count * (counts.count - 1))
    if case .probabilities(let a, let b, _) = scores { precondition(a.count == pairs && b.count == pairs) }
    self.vectors = vectors
    self.counts = counts
    self.coefficients = coefficients
    self.offsets = offsets
    self.scores = scores
  }

  package var widths: ClosedRange<Int> { vectors.widths }
  package func resultCount(of width: Int) -> Int { scoreCount }
  package func results(_ rows: NumberRows) -> [Double] { classify(rows).scores }

  package var scoreCount: Int {
    if case .decisions = scores { max(offsets.count, 2) } else { counts.count }
  }

  package func classify(_ rows: NumberRows) -> (winners: [Int], scores: [Double]) {
    var (winners, all): ([Int], [Double]) = ([], [])
    for row in 0..<rows.count {
      let decisions = decisions(vectors.kernels(rows, row))
      let votes = votes(decisions)
      winners.append(votes.firstLargest)
      switch scores {
      case .votes: all += votes
      case .decisions(let transform):
        guard counts.count == 2 else {
          all += transform(decisions)
          continue
        }
        let both = [-decisions[0], decisions[0]]
        all += transform == .probit ? transform([1 - both[1], both[1]]) : transform(both)
      case .probabilities(let a, let b, let isCoupled): all += probabilities(decisions, a, b, isCoupled)
      }
    }
    return (winners, all)
  }

  /// Returns the decision value of each machine; more than 0 votes for the first of its classes.
  private func decisions(_ kernels: [Double]) -> [Double] {
    var starts = [0]
    for count in counts { starts.append(starts[starts.count - 1] + count) }
    func weighted(_ row: Int, _ group: Int) -> Double {
      var sum = 0.0
      for vector in starts[group]..<starts[group + 1] {
        sum += coefficients[row * kernels.count + vector] * kernels[vector]
      }
      return sum
    }
    var decisions: [Double] = []
    for first in counts.indices {
      for second in first + 1..<counts.count {
        decisions.append(weighted(second - 1, first) + weighted(first, second) + offsets[decisions.count])
      }
    }
    return decisions
  }

  private func votes(_ decisions: [Double]) -> [Double] {
    var votes = [Double](repeating: 0, count: counts.count)
    var machine = 0
    for first in counts.indices {
      for second in first + 1..<counts.count {
        votes[decisions[machine] > 0 ? first : second] += 1
        machine += 1
      }
    }
    return votes
  }

  private func probabilities(_ decisions: [Double], _ a: [Double], _ b: [Double], _ isCoupled: Bool) -> [Double] {
    let count = counts.count
    var pairs = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
    var machine = 0
    for first in 0..<count {
      for second in first + 1..<count {
        let share = logistic(-(decisions[machine] * a[machine] + b[machine]))
        pairs[first][second] = min(max(share, 1e-7), 1 - 1e-7)
        pairs[second][first] = 1 - pairs[first][second]
        machine += 1
      }
    }
    return count == 2 && !isCoupled ? [pairs[0][1], pairs[1][0]] : Self.coupled(pairs)
  }

  /// Returns the class probabilities that best agree with the pairwise ones.
  ///
  /// Reference: Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling" (2004),
  /// algorithm 2; its stopping rule is libsvm's.
  private static func coupled(_ pairs: [[Double]]) -> [Double] {
    let count = pairs.count
    var quadratic = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
    for row in 0..<count {
      for column in 0..<count where column != row {
        quadratic[row][row] += pairs[column][row] * pairs[column][row]
        quadratic[row][column] = -pairs[column][row] * pairs[row][column]
      }
    }
    var shares = [Double](repeating: 1 / Double(count), count: count)
    for _ in 0..<max(100, count) {
      var products = quadratic.map { zip($0, shares).reduce(0) { $0 + $1.0 * $1.1 } }
      var whole = zip(shares, products).reduce(0) { $0 + $1.0 * $1.1 }
      guard products.contains(where: { ($0 - whole).magnitude >= 0.005 / Double(count) }) else { break }
      for row in 0..<count {
        let change = (whole - products[row]) / quadratic[row][row]
        shares[row] += change
        whole = (whole + change * (change * quadratic[row][row] + 2 * products[row])) / ((1 + change) * (1 + change))
        for column in 0..<count {
          products[column] = (products[column] + change * quadratic[row][column]) / (1 + change)
          shares[column] /= 1 + change
        }
      }
    }
    return shares
  }
}
