/// What a model is asked to do while it is measured.
package struct Workload: Hashable, Sendable {
  package static let format = "kelvin-workload"
  package static let version = 1

  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Start, answer, then one inference after the other, the next as soon as the last is done.
    case oneShot = "one-shot"
    /// Frames arrive at a fixed rate, whether or not the last one is done.
    case stream
    /// As many inferences as will go, for a time.
    case throughput
  }

  package var name: String
  /// One sentence for people.
  package var summary: String
  package var kind: Kind
  /// Complete starts (load, compile, first inference) of each configuration.
  package var starts: Int
  /// Warm inferences of each configuration, one after the other.
  package var iterations: Int
  /// Inferences before the warm ones that are not counted.
  package var warmUps: Int
  /// Arrivals a second; only of a stream.
  package var framesPerSecond: Double
  /// Seconds of streaming, or of going as fast as possible, for each configuration.
  package var duration: Double
  /// Frames that may wait; when one more arrives, the oldest waiting one is dropped.
  package var queue: Int

  package init(
    name: String, summary: String = "", kind: Kind, starts: Int = 8, iterations: Int = 60, warmUps: Int = 3,
    framesPerSecond: Double = 30, duration: Double = 20, queue: Int = 1
  ) {
    self.name = name
    self.summary = summary
    self.kind = kind
    self.starts = starts
    self.iterations = iterations
    self.warmUps = warmUps
    self.framesPerSecond = framesPerSecond
    self.duration = duration
    self.queue = queue
  }

  /// In words: `stream at 30.0 frames/s for 20 s`.
  package var description: String {
    switch kind {
    case .oneShot: "one-shot: \(starts) starts, then \(iterations) warm inferences"
    case .stream:
      "stream: \(Self.number(framesPerSecond)) frames/s for \(Self.number(duration)) s, "
        + (queue == 1 ? "1 frame may wait" : "\(queue) frames may wait")
    case .throughput: "throughput: as fast as possible for \(Self.number(duration)) s"
    }
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)"
  }

  /// - Throws: `invalidWorkload` for numbers no run can have.
  package func validate(document: String) throws(BenchmarkError) {
    func require(_ holds: Bool, _ reason: String) throws(BenchmarkError) {
      guard holds else { throw .invalidWorkload(document: document, reason: reason) }
    }
    try require((1...1000).contains(starts), "starts: expected 1 to 1000, got \(starts)")
    try require((1...10_000_000).contains(iterations), "iterations: expected 1 to 10000000, got \(iterations)")
    try require((0...1_000_000).contains(warmUps), "warmUps: expected 0 to 1000000, got \(warmUps)")
    try require((1...10_000).contains(queue), "queue: expected 1 to 10000 frames, got \(queue)")
    try require(
      framesPerSecond > 0 && framesPerSecond <= 10_000, "fps: expected above 0, at most 10000, got \(framesPerSecond)")
    try require(
      duration > 0 && duration <= 604_800, "duration: expected above 0 seconds, at most a week, got \(duration)")
  }
}
