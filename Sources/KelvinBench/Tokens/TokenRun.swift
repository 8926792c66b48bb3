import KelvinMeasurements
package import KelvinRuntime

/// One sequence: a prompt that is read, then tokens that are made one by one. Seconds.
package struct TokenRun: Sendable, Hashable, Codable {
  /// Tokens of the prompt.
  package var prompt: Int
  /// From the prompt to the first token.
  package var first: Double
  /// Of each token after the first.
  package private(set) var seconds: [Double] = []
  /// What sizes cost up to the first token.
  package var promptCounts: SpecializationCounts
  /// What they cost afterwards.
  package private(set) var counts = SpecializationCounts()

  package init(prompt: Int, first: Double, promptCounts: SpecializationCounts = SpecializationCounts()) {
    self.prompt = prompt
    self.first = first
    self.promptCounts = promptCounts
  }

  /// How many tokens lie before the one that was made in `seconds[index]`, the one that it was made of included.
  func length(at index: Int) -> Int { prompt + 1 + index }

  package mutating func add(_ seconds: Double, _ counts: SpecializationCounts = SpecializationCounts()) {
    self.seconds.append(seconds)
    self.counts = self.counts + counts
  }

  /// Reads a prompt and makes tokens, from nothing.
  ///
  /// - Parameters:
  ///   - tokens: how many are made, the first included; at least 1.
  ///   - look: called between two tokens.
  /// - Throws: what the reader throws; what `look` throws.
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
  /// The tokens after the first of a sequence, each a frame that arrives when the one before it is done.
  init(_ run: TokenRun) {
    var at = run.first
    let frames = run.seconds.map { seconds in
      defer { at += seconds }
      return Frame(arrival: at, start: at, end: at + seconds)
    }
    self.init(frames, elapsed: at, secondsPerFrame: (at - run.first) / Double(max(frames.count, 1)))
  }
}
