package import KelvinMeasurements
package import KelvinRuntime

/// What one configuration did with tokens: alone, in the first sequence after loading, and sustained, in those that
/// followed it without a pause. Seconds.
package struct TokenFigures: Sendable, Hashable, Encodable {
  /// Sequences of one kind.
  package struct Pace: Sendable, Hashable, Encodable {
    package var sequences: Int
    /// From the prompt to the first token, the median.
    package var firstToken: Double
    /// Tokens a second after the first.
    package var rate: Double
    /// What sizes cost up to the first token, and afterwards, of all sequences together.
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

  /// Tokens of some lengths.
  package struct Stretch: Sendable, Hashable, Encodable {
    /// The least and the most tokens before one that was made.
    package var from: Int
    package var to: Int
    /// Tokens a second; nil where none was made.
    package var oneShot: Double?
    package var sustained: Double?
  }

  /// Tokens of the prompt.
  package var prompt: Int
  /// Tokens that a sequence makes.
  package var tokens: Int
  package var oneShot: Pace
  /// Nil where the run ended before.
  package var sustained: Pace?
  package var stretches: [Stretch]
  /// A token's seconds over the tokens before it, by the medians of the sustained sequences; nil for too few.
  package var line: StraightLine?
  /// Where what is remembered lies, in words.
  package var memory: String

  /// Stretches that a table has.
  private static let stretchLimit = 8

  /// - Parameter runs: sequences in their order.
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
