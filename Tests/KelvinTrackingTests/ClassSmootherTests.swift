import Glibc
import KelvinTracking
import Testing

/// Smoothing of class probabilities over time.
@Suite struct ClassSmootherTests {
  /// Returns the seconds until the shown class changes after the input does.
  private static func delay(rate: Double) -> Double? {
    var smoother = ClassSmoother()
    let count = Int(rate)
    for frame in 0..<count { smoother.update([1, 0], at: Double(frame) / rate) }
    let change = Double(count - 1) / rate
    for frame in count..<(4 * count) {
      let time = Double(frame) / rate
      if smoother.update([0, 1], at: time) == 1 { return time - change }
    }
    return nil
  }

  @Test(arguments: [5.0, 10, 30, 120])
  func delayOfAChangeIsThatOfTheDefinition(rate: Double) throws {
    // The lead is 1 − 2·exp(−t/0.5), at least 0.1 after 0.5·ln(2/0.9), and must then last for 0.3 s.
    let right = 0.5 * log(2 / 0.9) + 0.3
    let delay = try #require(Self.delay(rate: rate))
    #expect(delay >= right - 1e-9 && delay <= right + 2 / rate + 1e-9)
  }

  @Test func noiseThatAlternatesDoesNotChangeTheClass() {
    var smoother = ClassSmoother()
    for frame in 0..<600 {
      let first = frame.isMultiple(of: 2) ? 0.7 : 0.3
      #expect(smoother.update([first, 1 - first], at: Double(frame) / 30) == 0)
    }
    #expect(abs(smoother.probability - 0.5) < 0.02)
  }

  @Test func shortLeadDoesNotChangeTheClass() {
    var smoother = ClassSmoother()
    for frame in 0..<90 {
      // Five frames at a time show the other class.
      smoother.update((30..<35).contains(frame) ? [0, 1] : [1, 0], at: Double(frame) / 30)
      #expect(smoother.shown == 0)
    }
  }

  @Test func probabilityDoesNotDependOnTheRateOfFrames() {
    func probability(after seconds: Double, frames: Int) -> Double {
      var smoother = ClassSmoother()
      smoother.update([1, 0], at: 0)
      for frame in 1...frames { smoother.update([0, 1], at: seconds * Double(frame) / Double(frames)) }
      return smoother.probabilities[1]
    }
    for frames in [1, 7, 100] { #expect(abs(probability(after: 0.8, frames: frames) - (1 - exp(-1.6))) < 1e-12) }
  }

  @Test func valuesAndTimesOutOfRangeAreHarmless() {
    var smoother = ClassSmoother()
    #expect(smoother.update([], at: 0) == nil && smoother.update([1], at: .nan) == nil && smoother.probability == 0)
    #expect(smoother.update([.nan, 9, -1], at: 1) == 1)
    #expect(smoother.probabilities == [0, 1, 0])
    #expect(smoother.update([1, 0], at: 0.5) == 1 && smoother.update([1, 0], at: .infinity) == 1)
    #expect(smoother.probabilities == [0, 1, 0])
    smoother.update([1], at: 1e9)
    #expect(smoother.probabilities == [1, 0, 0])
  }
}
