import FoundationEssentials
import KelvinBasics
import KelvinBench
import TestSupport
import Testing

/// Measures how often the rule names a winner among equals, and how often it finds a difference that it claims to
/// detect.
///
/// With KELVIN_TRIALS=5000 the whole table is computed and written to bench/results/verdicts.md.
struct FalseWinnerTests {
  private static let trials = ProcessInfo.processInfo.environment["KELVIN_TRIALS"].flatMap { Int($0) }
  private static let table = "\(SharedFiles.projectRoot)/bench/results/verdicts.md"
  private static let roundCounts = [6, 8, 12, 20, 40, 100]
  private static let correlations = [0, 0.3, 0.6, 0.9]
  /// That of a one-shot benchmark: two questions, each with two looks.
  private static let level = Finding.level / Double(2 * RoundLog.looks)

  /// One question of a benchmark: a look after the planned rounds, and where they decide nothing one after as many
  /// again.
  private func answer(_ seconds: [[Double]], planned: Int) throws -> Finding {
    func look(_ count: Int) throws -> Finding {
      try #require(
        Finding(seconds.map { Array($0.prefix(count)) }, level: Finding.level / Double(RoundLog.looks)))
    }
    let first = try look(planned)
    return first.isDecided ? first : try look(2 * planned)
  }

  /// The share of trials in which one of several equals wins.
  private func falseWinners(
    _ noise: EqualRounds.Noise, from origin: EqualRounds.Origin = .machine, correlation: Double,
    configurations: Int = 2, planned: Int, trials: Int
  ) throws -> Double {
    var source = EqualRounds(noise, from: origin, correlation: correlation, seed: 20)
    var wins = 0
    for _ in 0..<trials {
      if try answer(source.next(configurations, rounds: 2 * planned), planned: planned).winner != nil { wins += 1 }
    }
    return Double(wins) / Double(trials)
  }

  /// The share of single looks of a one-shot benchmark that see a difference.
  ///
  /// - Parameter difference: nil for the median of the differences that the looks without one say they would have seen.
  private func power(
    of difference: Double? = nil, correlation: Double, rounds: Int, trials: Int
  ) throws -> (difference: Double, seen: Double) {
    var source = EqualRounds(.normal, from: .machine, correlation: correlation, spread: 0.03, seed: 21)
    let equal = (0..<trials).map { _ in source.next(2, rounds: rounds) }
    let promised = equal.compactMap { Finding($0, level: Self.level)?.detectable }.sorted()
    let difference = try #require(difference ?? (promised.isEmpty ? nil : promised[promised.count / 2]))
    let seen = equal.count { rounds in
      Finding([rounds[0], rounds[1].map { $0 * (1 + difference) }], level: Self.level)?.winner == 0
    }
    return (difference, Double(seen) / Double(trials))
  }

  @Test("equal configurations have a winner in at most 5 % of runs")
  func errorRate() throws {
    #expect(RecordedSeries.all.count >= 3, "Tests/Recorded/equal-rounds.json is not what it was")
    let trials = 600
    // Three standard deviations of the share that 600 trials show.
    let limit = 0.05 + 3 * (0.05 * 0.95 / Double(trials)).squareRoot()
    for noise in [EqualRounds.Noise.normal, .heavyTailed] + RecordedSeries.all.map({ .recorded($0) }) {
      for (planned, correlation) in [(8, 0.6), (12, 0.0), (12, 0.6), (12, 0.9), (20, 0.9)] {
        let share = try falseWinners(noise, correlation: correlation, planned: planned, trials: trials)
        #expect(share <= limit, "\(noise), \(planned) rounds, correlation \(correlation), seed 20")
      }
      let own = try falseWinners(noise, from: .configuration, correlation: 0, planned: 12, trials: trials)
      #expect(own <= limit, "\(noise) of each configuration, 12 rounds, seed 20")
    }
    let five = try falseWinners(.normal, correlation: 0.6, configurations: 5, planned: 12, trials: trials)
    #expect(five <= limit, "five configurations, seed 20")
  }

  @Test("a difference detectable in 8 of 10 runs is found in about 8 of 10 runs")
  func powerIsHonest() throws {
    for (rounds, correlation) in [(12, 0.0), (20, 0.0), (20, 0.6), (40, 0.3)] {
      let (_, seen) = try power(correlation: correlation, rounds: rounds, trials: 400)
      #expect(seen > 0.65 && seen < 0.95, "\(rounds) rounds, correlation \(correlation), seed 21")
    }
  }

  @Test("twelve rounds find a difference of 10 % behind noise of 3 % in nine of ten runs", arguments: correlations)
  func tenPercent(correlation: Double) throws {
    let seen = try power(of: 0.1, correlation: correlation, rounds: 12, trials: 400).seen
    #expect(seen >= 0.9, "seed 21")
  }

  @Test("the whole table", .enabled(if: trials != nil, "set KELVIN_TRIALS to make bench/results/verdicts.md"))
  func wholeTable() throws {
    let trials = Self.trials ?? 0
    func percent(_ share: Double) -> String { HumanReadable.fixed(share * 100, decimals: 1) }
    var lines = [
      "# How often the rule is wrong, and what it sees", "",
      "Written by `KELVIN_TRIALS=\(trials) swift test -c release --filter FalseWinnerTests`; "
        + "\(trials) trials in each cell, seeds 20 and 21.",
      "Recorded series are in `Tests/Recorded/`, where it says how they were measured; they are drawn in"
        + " blocks and, for a",
      "correlation above 0, filtered to have that much more.",
    ]
    func table(_ title: String, _ text: [String], first: [String], _ rows: [(names: [String], cells: [String])]) {
      lines += ["", "## \(title)", ""] + text + (text.isEmpty ? [] : [""])
      let counts = Self.roundCounts.map { "\($0) rounds" }
      lines.append("| " + (first + counts).joined(separator: " | ") + " |")
      lines.append("|" + first.map { _ in "---|" }.joined() + counts.map { _ in "---:|" }.joined())
      lines += rows.map { "| " + ($0.names + $0.cells).joined(separator: " | ") + " |" }
    }
    for origin in [EqualRounds.Origin.machine, .configuration] {
      var rows: [(names: [String], cells: [String])] = []
      for noise in [EqualRounds.Noise.normal, .heavyTailed] + RecordedSeries.all.map({ .recorded($0) }) {
        for correlation in Self.correlations {
          let cells = try Self.roundCounts.map {
            percent(try falseWinners(noise, from: origin, correlation: correlation, planned: $0, trials: trials))
          }
          rows.append(([noise.description, "\(correlation)"], cells))
        }
      }
      let text =
        origin == .machine
        ? [
          "Two looks: after the planned rounds, and after as many again where they decided nothing. The noise is the"
            + " machine's:",
          "turns that follow each other correlate, whichever configuration they belong to. Up to 7 rounds are too few"
            + " for ranks.",
        ]
        : [
          "The same with noise that stays with a configuration from round to round. Random order does not help"
            + " against it, and",
          "the rule does not hold its 5 % where it correlates. Real runs of equals show none"
            + " ([equal runs](equal-runs.md)).",
        ]
      table(
        "Winners among two equals, % of runs, noise of the \(origin.rawValue)", text, first: ["noise", "correlation"],
        rows)
    }
    var several: [(names: [String], cells: [String])] = []
    for configurations in [3, 5] {
      for correlation in Self.correlations {
        let cells = try Self.roundCounts.map {
          percent(
            try falseWinners(
              .normal, correlation: correlation, configurations: configurations, planned: $0, trials: trials))
        }
        several.append((["\(configurations)", "\(correlation)"], cells))
      }
    }
    table(
      "Winners among several equals, % of runs, normal noise of the machine", [],
      first: ["configurations", "correlation"], several)
    let promised = try Self.correlations.map { correlation in
      let cells = try Self.roundCounts.map { rounds in
        let (difference, seen) = try power(correlation: correlation, rounds: rounds, trials: trials)
        return "\(percent(difference)) %: \(percent(seen))"
      }
      return (["\(correlation)"], cells)
    }
    table(
      "What is seen, with normal noise of 3 %",
      [
        "The difference that a one-shot benchmark says it would have seen in 8 of 10 runs, and the % of runs that do"
          + " see it. One look."
      ], first: ["correlation"], promised)
    let tenths = try Self.correlations.map { correlation in
      (
        ["\(correlation)"],
        try Self.roundCounts.map {
          percent(try power(of: 0.1, correlation: correlation, rounds: $0, trials: trials).seen)
        }
      )
    }
    table(
      "Runs that see a difference of 10 %, %, with normal noise of 3 %", ["One look."], first: ["correlation"], tenths)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: Self.table))
  }
}
