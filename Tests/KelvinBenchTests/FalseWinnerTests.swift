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
    _ noise: EqualRounds.Noise, correlation: Double, configurations: Int = 2, planned: Int, trials: Int
  ) throws -> Double {
    var source = EqualRounds(noise, correlation: correlation, seed: 20)
    var wins = 0
    for _ in 0..<trials {
      if try answer(source.next(configurations, rounds: 2 * planned), planned: planned).winner != nil { wins += 1 }
    }
    return Double(wins) / Double(trials)
  }

  /// The share of single looks in which a true difference is seen, where it is as large as the median of the
  /// differences that the looks without one say they would have seen.
  private func power(
    _ noise: EqualRounds.Noise, correlation: Double, rounds: Int, trials: Int
  ) throws -> (difference: Double, seen: Double) {
    var source = EqualRounds(noise, correlation: correlation, spread: 0.03, seed: 21)
    let equal = (0..<trials).map { _ in source.next(2, rounds: rounds) }
    let promised = equal.compactMap { Finding($0)?.detectable }.sorted()
    let difference = try #require(promised.isEmpty ? nil : promised[promised.count / 2])
    let seen = equal.count { rounds in Finding([rounds[0], rounds[1].map { $0 * (1 + difference) }])?.winner == 0 }
    return (difference, Double(seen) / Double(trials))
  }

  @Test("equal configurations have a winner in at most 5 % of runs")
  func errorRate() throws {
    #expect(RecordedSeries.all.count >= 3, "Tests/Recorded/equal-rounds.json is not what it was")
    let trials = 600
    // Three standard deviations of the share that 600 trials show.
    let limit = 0.05 + 3 * (0.05 * 0.95 / Double(trials)).squareRoot()
    for noise in [EqualRounds.Noise.normal, .heavyTailed] + RecordedSeries.all.map({ .recorded($0) }) {
      for (planned, correlation) in [(6, 0.6), (6, 0.9), (12, 0.6), (20, 0.0), (20, 0.9)] {
        let share = try falseWinners(noise, correlation: correlation, planned: planned, trials: trials)
        #expect(share <= limit, "\(noise), \(planned) rounds, correlation \(correlation), seed 20")
      }
    }
    let five = try falseWinners(.normal, correlation: 0.6, configurations: 5, planned: 12, trials: trials)
    #expect(five <= limit, "five configurations, seed 20")
  }

  @Test("a difference detectable in 8 of 10 runs is found in about 8 of 10 runs")
  func powerIsHonest() throws {
    for (rounds, correlation) in [(12, 0.0), (20, 0.0), (20, 0.6), (40, 0.3)] {
      let (_, seen) = try power(.normal, correlation: correlation, rounds: rounds, trials: 400)
      #expect(seen > 0.65 && seen < 0.95, "\(rounds) rounds, correlation \(correlation), seed 21")
    }
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
      "correlation above 0, filtered to have that much more.", "",
      "## Winners among two equals, % of runs", "",
      "Two looks: after the planned rounds, and after as many again where they decided nothing.", "",
      "| noise | correlation | " + Self.roundCounts.map { "\($0) rounds" }.joined(separator: " | ") + " |",
      "|---|---|" + Self.roundCounts.map { _ in "---:|" }.joined(),
    ]
    for noise in [EqualRounds.Noise.normal, .heavyTailed] + RecordedSeries.all.map({ .recorded($0) }) {
      for correlation in Self.correlations {
        let cells = try Self.roundCounts.map {
          percent(try falseWinners(noise, correlation: correlation, planned: $0, trials: trials))
        }
        lines.append("| \(noise) | \(correlation) | \(cells.joined(separator: " | ")) |")
      }
    }
    lines += [
      "", "## Winners among several equals, % of runs, normal noise", "",
      "| configurations | correlation | " + Self.roundCounts.map { "\($0) rounds" }.joined(separator: " | ") + " |",
      "|---|---|" + Self.roundCounts.map { _ in "---:|" }.joined(),
    ]
    for configurations in [3, 5] {
      for correlation in Self.correlations {
        let cells = try Self.roundCounts.map {
          percent(
            try falseWinners(
              .normal, correlation: correlation, configurations: configurations, planned: $0, trials: trials))
        }
        lines.append("| \(configurations) | \(correlation) | \(cells.joined(separator: " | ")) |")
      }
    }
    lines += [
      "", "## What is seen, each configuration with normal noise of 3 %", "",
      "The difference that a run says it would have seen in 8 of 10 runs, and the % of runs that do see it. One look.",
      "", "| correlation | " + Self.roundCounts.map { "\($0) rounds" }.joined(separator: " | ") + " |",
      "|---|" + Self.roundCounts.map { _ in "---:|" }.joined(),
    ]
    for correlation in Self.correlations {
      let cells = try Self.roundCounts.map { rounds in
        let (difference, seen) = try power(.normal, correlation: correlation, rounds: rounds, trials: trials)
        return "\(percent(difference)) %: \(percent(seen))"
      }
      lines.append("| \(correlation) | \(cells.joined(separator: " | ")) |")
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: Self.table))
  }
}
