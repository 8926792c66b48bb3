import KelvinStreams
package import KelvinThermal

/// What somebody wants of a model, and how long finding out may take. Seconds.
package struct AdviceRequest: Sendable, Hashable {
  /// One of the things a model is wanted for, each with an answer of its own.
  package enum Question: String, Sendable, Hashable, Codable, CaseIterable {
    /// A single image, from the start of a process to its answer.
    case photo
    /// Frames that arrive by the clock.
    case stream
    /// As many images as will go.
    case throughput
    /// The stream, for so long that heat tells.
    case sustained
  }

  /// Arrivals a second where a stream is not asked for by its own.
  package static let usualRate = 30.0
  package static let usualBudget = 180.0
  /// By which any machine has settled.
  static let longestHorizon = 86_400.0

  package var questions: Set<Question>
  /// Arrivals a second, of the stream and of what has to last.
  package var framesPerSecond: Double
  /// How long the stream has to last.
  package var horizon: Double
  /// Of the machine on which it has to last.
  package var envelope: ThermalEnvelope
  /// For everything that is measured.
  package var budget: Double

  package init(
    questions: Set<Question> = Set(Question.allCases), framesPerSecond: Double = usualRate, horizon: Double = 3600,
    envelope: ThermalEnvelope, budget: Double = usualBudget
  ) {
    self.questions = questions
    self.framesPerSecond = framesPerSecond
    self.horizon = horizon
    self.envelope = envelope
    self.budget = budget
  }

  /// - Throws: `invalidRequest` for numbers that mean nothing.
  package func validate() throws(BenchmarkError) {
    guard !questions.isEmpty else {
      throw .invalidRequest("advice on what? ask for a photo, a stream, throughput, or how long it has to last")
    }
    guard budget >= Self.leastBudget, budget <= 86_400 else {
      throw .invalidRequest("budget: expected \(Self.leastBudget) seconds to a day, got \(budget)")
    }
    guard framesPerSecond > 0, framesPerSecond <= 10_000 else {
      throw .invalidRequest("frames a second: expected above 0, at most 10000, got \(framesPerSecond)")
    }
    guard horizon >= 1, horizon <= Self.longestHorizon else {
      throw .invalidRequest("how long it has to last: expected 1 second to a day, got \(horizon) s")
    }
    let frames = framesPerSecond * horizon
    guard !questions.contains(.sustained) || frames <= StreamSimulation.mostFrames else {
      throw .invalidRequest(
        "\(Workload.number(framesPerSecond)) frames/s for \(horizon) s are \(Int(frames)) frames, expected at most"
          + " \(Int(StreamSimulation.mostFrames)); ask for a shorter time")
    }
  }

  /// Less than what any comparison takes says nothing.
  package static let leastBudget = 5.0
}
