package import KelvinMeasurements

/// One number of a configuration that can be held against the same number of another run: seconds, less is better.
package struct Figure: Sendable, Hashable, Codable {
  package var name: ComparedQuestion.Subject
  /// As it is shown everywhere.
  package var seconds: Double
  /// From the rounds, whatever their correlation; nil where there were too few.
  package var interval: ConfidenceInterval?
  package var rounds: Int

  /// - Parameters:
  ///   - seconds: as it is shown.
  ///   - rounds: the seconds of each round that counts.
  init?(_ name: ComparedQuestion.Subject, _ seconds: Double?, rounds: [Double]) {
    guard let seconds, seconds.isFinite, seconds > 0 else { return nil }
    self.name = name
    self.seconds = seconds
    self.rounds = rounds.count
    let own = try? PairedComparison(candidate: rounds, baseline: rounds.map { _ in 1 })
    interval = own.flatMap { own in
      own.pairs < PairedComparison.fewestPairs
        ? nil
        : ConfidenceInterval(
          lower: min(own.interval.lower, seconds), upper: max(own.interval.upper, seconds),
          confidence: own.interval.confidence)
    }
  }
}

/// A run held against an earlier one, figure by figure.
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
    /// Now over earlier.
    package var ratio: Double
    package var verdict: Verdict
    /// Worse beyond what is allowed.
    package var isRegression: Bool
  }

  /// What the earlier run is called.
  package var name: String
  /// The share by which a figure may be worse.
  package var threshold: Double
  package var entries: [Entry]

  package var hasRegressed: Bool { entries.contains(where: \.isRegression) }

  /// Runs at different times share no disturbances, so figures are told apart only where their intervals do not meet.
  ///
  /// - Throws: `invalidRequest` where the two have no figure in common.
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

/// What is needed of the document that an earlier run printed.
package struct EarlierRun: Sendable, Hashable, Decodable {
  package struct Configuration: Sendable, Hashable, Decodable {
    package var units: String
    package var figures: [Figure]
  }
  package var configurations: [Configuration]
}
