package import KelvinMeasurements
package import KelvinRuntime

/// The token rates of one configuration: one-shot, in the first sequence after loading, and sustained, in the sequences
/// that follow without a pause. Times are in seconds.
package struct TokenFigures: Sendable, Hashable, Encodable {
  /// The rates of several sequences.
  package struct Pace: Sendable, Hashable, Encodable {
    package var sequences: Int
    /// The median time from the prompt to the first token.
    package var firstToken: Double
    /// Tokens per second after the first.
    package var rate: Double
    /// The plans and compilations for new sizes, of all sequences together: up to the first token (`promptCounts`) and
    /// after it (`counts`).
    package var promptCounts: SpecializationCounts
    package var counts: SpecializationCounts

    init?(_ runs: [TokenRun]) {
      let seconds = runs.reduce(0) { $0 + $1.seconds.reduce(0, +) }
      guard let first = try? LatencyStatistics(runs.map(\.first)).median, seconds > 0 else { return nil }
      sequences = runs.count
      firstToken = first
      rate = Double(runs.reduce(0) { $0 + $1.seconds.count }) / seconds
      promptCounts = runs.reduce(SpecializationCounts()) { $0 + $1.promptCounts }
      counts = runs.reduce(SpecializationCounts()) { $0 + $1.counts }
    }
  }

  /// A range of sequence lengths.
  package struct Stretch: Sendable, Hashable, Encodable {
    /// The fewest and the most tokens that precede a generated token.
    package var from: Int
    package var to: Int
    /// Tokens per second; nil when none was generated.
    package var oneShot: Double?
    package var sustained: Double?
  }

  /// The number of tokens of the prompt.
  package var prompt: Int
  /// The number of tokens that a sequence generates.
  package var tokens: Int
  package var oneShot: Pace
  /// Nil when the run ended before.
  package var sustained: Pace?
  package var stretches: [Stretch]
  /// A line through the seconds of a token over the number of preceding tokens, from medians of the sustained
  /// sequences; nil with too few tokens.
  package var line: StraightLine?
  /// The storage of the model's token state (KV cache), in words.
  package var memory: String

  /// The most stretches in a table.
  private static let stretchLimit = 8

  /// - Parameter runs: the sequences in order.
  init?(_ runs: [TokenRun], tokens: Int, memory: String) {
    guard let first = runs.first, let oneShot = Pace([first]) else { return nil }
    let rest = Array(runs.dropFirst())
    prompt = first.prompt
    self.tokens = tokens
    self.oneShot = oneShot
    sustained = Pace(rest)
    self.memory = memory
    let count = runs.map(\.seconds.count).max() ?? 0
    let step = max(1, (count + Self.stretchLimit - 1) / Self.stretchLimit)
    stretches = stride(from: 0, to: count, by: step).map { begin in
      func rate(_ runs: [TokenRun]) -> Double? {
        let seconds = runs.flatMap { $0.seconds.dropFirst(begin).prefix(step) }
        let sum = seconds.reduce(0, +)
        return sum > 0 ? Double(seconds.count) / sum : nil
      }
      let last = min(begin + step, count) - 1
      return Stretch(
        from: first.length(at: begin), to: first.length(at: last), oneShot: rate([first]), sustained: rate(rest))
    }
    let timed = rest.isEmpty ? runs : rest
    let medians = (0..<count).compactMap { index in
      let seconds = timed.compactMap { $0.seconds.indices.contains(index) ? $0.seconds[index] : nil }
      return (try? LatencyStatistics(seconds).median).map { (Double(first.length(at: index)), $0) }
    }
    line = try? StraightLine(medians.map(\.0), medians.map(\.1))
  }
}
