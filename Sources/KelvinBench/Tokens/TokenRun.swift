import KelvinMeasurements
package import KelvinRuntime

/// One sequence: a prompt is read, then tokens are generated one by one. Times are in seconds.
package struct TokenRun: Sendable, Hashable, Codable {
  /// The number of tokens of the prompt.
  package var prompt: Int
  /// Seconds from the prompt to the first token.
  package var first: Double
  /// Seconds of each token after the first.
  package private(set) var seconds: [Double] = []
  /// The plans and compilations for new sizes up to the first token.
  package var promptCounts: SpecializationCounts
  /// The plans and compilations for new sizes after the first token.
  package private(set) var counts = SpecializationCounts()

  package init(prompt: Int, first: Double, promptCounts: SpecializationCounts = SpecializationCounts()) {
    self.prompt = prompt
    self.first = first
    self.promptCounts = promptCounts
  }

  /// Returns the number of tokens that precede the one generated in `seconds[index]`, the model's latest input
  /// included.
  func length(at index: Int) -> Int { prompt + 1 + index }

  package mutating func add(_ seconds: Double, _ counts: SpecializationCounts = SpecializationCounts()) {
    self.seconds.append(seconds)
    self.counts = self.counts + counts
  }

  /// Restarts the reader, reads a prompt and generates tokens.
  ///
  /// - Parameters:
  ///   - tokens: the number of tokens to generate, the first included; at least 1.
  ///   - look: called between two tokens.
  /// - Throws: errors of the reader and of `look`.
  init(
    _ reader: any TokenReader, prompt: [Int], tokens: Int, clock: any MeasurementClock,
    look: (TokenRun) throws -> Void = { _ in }
  ) throws {
    reader.restart()
    var before = reader.specializationCounts
    func taken() -> SpecializationCounts {
      let now = reader.specializationCounts
      defer { before = now }
      return now - before
    }
    var token = 0
    let first = try clock.time { token = try reader.next(after: prompt) }
    self.init(prompt: prompt.count, first: first, promptCounts: taken())
    for _ in 1..<max(tokens, 1) {
      try look(self)
      add(try clock.time { token = try reader.next(after: [token]) }, taken())
    }
  }
}

extension FrameSlice {
  /// Creates a slice from the tokens after the first: each is a frame that arrives when the previous one ends.
  init(_ run: TokenRun) {
    var at = run.first
    let frames = run.seconds.map { seconds in
      defer { at += seconds }
      return Frame(arrival: at, start: at, end: at + seconds)
    }
    self.init(frames, elapsed: at, secondsPerFrame: (at - run.first) / Double(max(frames.count, 1)))
  }
}
