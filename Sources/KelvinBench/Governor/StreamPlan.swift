/// One precomputed way of answering the frames of a stream: what a governor chooses among and a simulation runs.
package struct StreamPlan: Sendable, Hashable, Codable {
  /// As the user knows it: the units, or the plan's file.
  package var label: String
  /// Seconds of one inference at full clock.
  package var secondsPerFrame: Double
  /// Joules of one inference above idle, at full clock.
  package var joulesPerFrame: Double
  /// Where the joules come from, in words: measured by what, or estimated from what.
  package var energySource: String

  package init(label: String, secondsPerFrame: Double, joulesPerFrame: Double, energySource: String = "given") {
    self.label = label
    self.secondsPerFrame = secondsPerFrame
    self.joulesPerFrame = joulesPerFrame
    self.energySource = energySource
  }

  /// - Throws: `invalidRequest` for costs no plan can have.
  package func validate() throws(BenchmarkError) {
    guard secondsPerFrame.isFinite, (1e-7...3600).contains(secondsPerFrame) else {
      throw .invalidRequest("plan \(label): expected 1e-7 to 3600 seconds per frame, got \(secondsPerFrame)")
    }
    guard joulesPerFrame.isFinite, (0...1e7).contains(joulesPerFrame) else {
      throw .invalidRequest("plan \(label): expected 0 to 1e7 joules per frame, got \(joulesPerFrame)")
    }
  }
}
