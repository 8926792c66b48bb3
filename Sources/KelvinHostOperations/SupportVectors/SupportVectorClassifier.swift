import KelvinBasics

/// Classes by one machine for each two of them, as libsvm trains them.
package struct SupportVectorClassifier: RowClassifier, RowFunction {
  package static let name = "support_vector_classifier"

  /// What the scores are.
  package enum Scores: Hashable, Sendable {
    /// How many machines are for each class.
    case votes
    /// What the machines say, of two classes for both.
    case decisions(ScoreTransform)
    /// Of what the machines say `s`, by sigmoids `1 / (1 + exp(a · s + b))`. What they are for two classes follows from
    /// the only sigmoid, or is `coupled` as it is for more.
    case probabilities(a: [Double], b: [Double], isCoupled: Bool)
  }

  package let vectors: SupportVectors
  /// How many of the vectors, which are in the order of classes, are of each class.
  package let counts: [Int]
  /// For each vector one coefficient in the machine of its class and each of the others: as many rows, one after
  /// another, as classes but one.
  package let coefficients: [Double]
  /// Added to what the machines of the classes 0 and 1, 0 and 2, … 1 and 2, … say.
  package let offsets: [Double]
  package let scores: Scores

  /// - Precondition: there are at least two classes, and as many numbers of everything as they ask for.
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

  /// What each machine says; more than 0 is for the first of its classes.
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

  /// The probabilities of classes that agree best with those between each two of them.
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
