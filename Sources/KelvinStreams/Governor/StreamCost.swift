/// The answers and the power of a plan under a stream.
package struct StreamCost: Sendable, Hashable, Codable {
  /// Answers per second while every arrival is taken.
  package var answersPerSecond: Double
  /// The mean power above idle while every arrival is taken.
  package var watts: Double
  /// The share of the arrivals with which the plan is busy all the time; 1 if it keeps up with all of them.
  package var fullRate: Double
  /// Seconds of one inference; nil if unknown, or in a document of an earlier version.
  package var secondsPerFrame: Double?

  package init(answersPerSecond: Double, watts: Double, fullRate: Double = 1, secondsPerFrame: Double? = nil) {
    self.answersPerSecond = answersPerSecond
    self.watts = watts
    self.fullRate = fullRate
    self.secondsPerFrame = secondsPerFrame
  }

  /// Returns the answers per second while a share of the arrivals is taken.
  func answers(rate: Double) -> Double { answersPerSecond * min(1, rate / fullRate) }

  /// Returns the mean power above idle while a share of the arrivals is taken.
  func watts(rate: Double) -> Double { watts * min(1, rate / fullRate) }

  /// Returns the largest share of the arrivals whose power is at most `most`; 0 to 1.
  func rate(watts most: Double) -> Double { watts <= most ? 1 : fullRate * max(0, most) / watts }
}

extension StreamPlan {
  /// Returns the costs under a stream.
  ///
  /// - Parameter framesPerSecond: arrivals per second; nil for one frame after the other. A rate is then the share of
  ///   the time at work.
  package func cost(framesPerSecond: Double?) -> StreamCost {
    let fullRate = min(1, 1 / (secondsPerFrame * (framesPerSecond ?? 1 / secondsPerFrame)))
    let answers = (framesPerSecond ?? 1 / secondsPerFrame) * fullRate
    return StreamCost(
      answersPerSecond: answers, watts: answers * joulesPerFrame, fullRate: fullRate, secondsPerFrame: secondsPerFrame)
  }
}
