import Kelvin
import KelvinBasics
import KelvinEvaluation
import KelvinVision

/// The recommended contender for a job on this machine.
public struct EvaluationVerdict: Hashable, Sendable {
  /// The index of the recommended contender: the fastest of those that, with 95 % confidence, are not worse than the
  /// best by more than a small margin.
  public var chosen: Int
  /// The index of the contender with the best figure; the fastest of several equal ones.
  public var best: Int
  /// The indices of the contenders on the Pareto front of figure and time, the fastest first.
  public var front: [Int]
  /// The verdict as a sentence for people.
  public var sentence: String
}

extension Evaluation {
  /// Recommends a contender; nil for a single contender, and where no contender has a figure.
  ///
  /// - Parameter costs: The costs of the contenders, in their order.
  public func verdict(costs: [CandidateCost]) -> EvaluationVerdict? {
    let isLarger = Self.decisive.isBetterWhenLarger
    let points = contenders.indices.map { place in
      (cost: costs[place].time.inSeconds, quality: quality(of: place).map { isLarger ? $0 : -$0 } ?? .nan)
    }
    let front = ParetoFront.members(of: points)
    guard contenders.count > 1, let last = front.last else { return nil }
    // Contenders of equal quality are adjacent at the front's end, the fastest first.
    let best = front.first { points[$0].quality == points[last].quality } ?? last
    let near = contenders.indices.filter { place in
      place == best || greatestLoss(of: place, against: best).map { $0 <= margin(of: best) } ?? false
    }
    let chosen = near.min { (points[$0].cost, $0) < (points[$1].cost, $1) } ?? best
    return EvaluationVerdict(
      chosen: chosen, best: best, front: front,
      sentence: sentence(chosen: chosen, best: best, costs, points.map(\.cost)))
  }

  /// Returns the loss that is acceptable in exchange for speed: two percentage points of a share, or 2 % of another
  /// figure.
  private func margin(of best: Int) -> Double {
    Self.decisive.unit == .share ? 0.02 : 0.02 * abs(quality(of: best) ?? 0)
  }

  /// Returns the upper bound of a contender's loss against the best, with 95 % confidence; nil where there are too few
  /// examples.
  private func greatestLoss(of contender: Int, against best: Int) -> Double? {
    comparison(of: contender, with: best).interval.map {
      Self.decisive.isBetterWhenLarger ? -$0.lowerBound : $0.upperBound
    }
  }

  private func sentence(chosen: Int, best: Int, _ costs: [CandidateCost], _ seconds: [Double]) -> String {
    func shown(_ place: Int) -> String {
      "\(names[place]) (\(decisiveText(of: place)), \(HumanReadable.seconds(costs[place].time.inSeconds)))"
    }
    let beginning = "For this job on this machine: \(shown(chosen))"
    guard chosen == best else {
      return "\(beginning), which loses at most \(Self.amount(margin(of: best))) to the best, \(shown(best))."
    }
    let fastest = seconds.indices.min { (seconds[$0], $0) < (seconds[$1], $1) } ?? chosen
    guard fastest != best else { return "\(beginning), the best and the fastest of \(names.count)." }
    let comparison = comparison(of: fastest, with: best)
    if comparison.isDifferent, let difference = comparison.difference {
      return "\(beginning). The fastest, \(shown(fastest)), is worse by \(Self.amount(difference))."
    }
    let loss = greatestLoss(of: fastest, against: best).map { " and may be worse by up to \(Self.amount($0))" } ?? ""
    let count = "\(counted(examples.count)) \(examples.count == 1 ? "does" : "do")"
    return "\(beginning). The fastest is \(shown(fastest))\(loss): \(count) not tell."
  }

  /// Formats a count of examples: `1 image`, `3 images`.
  func counted(_ count: Int) -> String { "\(count) \(Self.exampleName)\(count == 1 ? "" : "s")" }

  /// Formats the first measure with its name: `top-1 71.2 %`.
  func decisiveText(of contender: Int) -> String {
    "\(Self.decisive.name.lowercasedInitial) \(Self.decisive.text(quality(of: contender)))"
  }

  /// Formats a difference without its sign: `1.2 points`.
  static func amount(_ difference: Double) -> String {
    switch decisive.unit {
    case .share: "\(HumanReadable.fixed(abs(difference) * 100, decimals: 1)) points"
    case .number: HumanReadable.significant(abs(difference))
    }
  }
}

extension EvaluationMeasure {
  /// Formats a figure for people; nil is `—`.
  func text(_ figure: Double?) -> String {
    guard let figure else { return "—" }
    return unit == .share ? HumanReadable.percent(figure) : HumanReadable.significant(figure)
  }
}

extension String {
  /// The string for use within a sentence: `Top-1` becomes `top-1`. Abbreviations keep their case.
  var lowercasedInitial: String {
    guard let first, dropFirst().first?.isUppercase != true else { return self }
    return first.lowercased() + dropFirst()
  }
}
