import Glibc
package import KelvinMeasurements

/// A value of a configuration that can be compared with the same value of another run: seconds, less is better.
package struct Figure: Sendable, Hashable, Codable {
  package var name: ComparedQuestion.Subject
  /// The seconds that every report shows.
  package var seconds: Double
  /// The confidence interval over the rounds, corrected for their correlation; nil when there are too few rounds.
  package var interval: ConfidenceInterval?
  package var rounds: Int

  /// - Parameters:
  ///   - seconds: the value that reports show.
  ///   - rounds: the seconds of each round that counts.
  init?(_ name: ComparedQuestion.Subject, _ seconds: Double?, rounds: [Double]) {
    guard let seconds, seconds.isFinite, seconds > 0 else { return nil }
    self.name = name
    self.seconds = seconds
    self.rounds = rounds.count
    guard rounds.count >= PairedComparison.fewestPairs, rounds.allSatisfy({ $0.isFinite && $0 > 0 }) else { return }
    let level = Finding.level
    let own = CorrelatedMean(rounds.map { log($0) }, level: level)
    interval = ConfidenceInterval(
      lower: min(exp(own.lower), seconds), upper: max(min(exp(own.upper), .greatestFiniteMagnitude), seconds),
      confidence: 1 - level)
  }
}

/// The comparison of a run with an earlier one, figure by figure.
package struct RunComparison: Sendable, Encodable {
  package enum Verdict: String, Sendable, Encodable {
    case better
    case worse
    case noDifference = "no difference measured"
    case notCompared = "not compared"
  }

  package struct Entry: Sendable, Encodable {
    package var configuration: String
    package var figure: ComparedQuestion.Subject
    package var earlier: Double
    package var now: Double
    /// The present value divided by the earlier one.
    package var ratio: Double
    package var verdict: Verdict
    /// Whether the figure is worse by more than the threshold.
    package var isRegression: Bool
  }

  /// The name of the earlier run.
  package var name: String
  /// The relative amount by which a figure may be worse.
  package var threshold: Double
  package var entries: [Entry]

  package var hasRegressed: Bool { entries.contains(where: \.isRegression) }

  /// Runs at different times do not share disturbances, so figures differ only when their intervals do not overlap.
  ///
  /// - Throws: `invalidRequest` when the two have no figure in common.
  package init(
    _ now: [(configuration: String, figures: [Figure])], against earlier: EarlierRun, named name: String,
    threshold: Double
  ) throws(BenchmarkError) {
    self.name = name
    self.threshold = threshold
    entries = now.flatMap { configuration, figures in
      let known = earlier.configurations.first { $0.units == configuration }?.figures ?? []
      return figures.compactMap { figure in
        known.first { $0.name == figure.name && $0.seconds > 0 }.map { old in
          let verdict: Verdict =
            if let own = figure.interval, let theirs = old.interval {
              own.lower > theirs.upper ? .worse : own.upper < theirs.lower ? .better : .noDifference
            } else { .notCompared }
          let ratio = figure.seconds / old.seconds
          return Entry(
            configuration: configuration, figure: figure.name, earlier: old.seconds, now: figure.seconds, ratio: ratio,
            verdict: verdict, isRegression: verdict == .worse && ratio > 1 + threshold)
        }
      }
    }
    guard !entries.isEmpty else {
      throw .invalidRequest("'\(name)' has no figure of a configuration that was measured now")
    }
  }
}

/// The parts of an earlier run's JSON document that a comparison needs.
package struct EarlierRun: Sendable, Hashable, Decodable {
  package struct Configuration: Sendable, Hashable, Decodable {
    package var units: String
    package var figures: [Figure]
  }
  package var configurations: [Configuration]
}
