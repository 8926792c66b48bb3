import KelvinStreams
package import KelvinThermal

/// The questions of an advice and the time budget of its measurements. Times are in seconds.
package struct AdviceRequest: Sendable, Hashable {
  /// A use of a model, answered separately.
  package enum Question: String, Sendable, Hashable, Codable, CaseIterable {
    /// A single image, from the start of a process to its answer.
    case photo
    /// Frames that arrive at a fixed rate.
    case stream
    /// As many images per second as possible.
    case throughput
    /// A stream that runs long enough for heat to matter.
    case sustained
  }

  /// Arrivals per second when the request does not give a rate.
  package static let usualRate = 30.0
  package static let usualBudget = 180.0
  /// The longest horizon in seconds; temperatures of any machine have settled by then.
  static let longestHorizon = 86_400.0

  package var questions: Set<Question>
  /// Arrivals per second, of the stream and of the sustained stream.
  package var framesPerSecond: Double
  /// The seconds for which the sustained stream has to run.
  package var horizon: Double
  /// The envelope of the machine for the sustained question.
  package var envelope: ThermalEnvelope
  /// Seconds for all measurements together.
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

  /// - Throws: `invalidRequest` for values that are out of range.
  package func validate() throws(BenchmarkError) {
    guard !questions.isEmpty else {
      throw .invalidRequest("no question is given; ask for a photo, a stream, throughput, or how long it has to last")
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

  /// The least budget in seconds; no comparison fits into less.
  package static let leastBudget = 5.0
}
