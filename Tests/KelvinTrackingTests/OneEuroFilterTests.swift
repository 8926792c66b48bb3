import Glibc
import KelvinBasics
import KelvinTracking
import Testing

/// The One Euro filter, against numbers computed by hand from the definition.
@Suite struct OneEuroFilterTests {
  private static func options(cutoff: Double = 1, speedWeight: Double = 0.5) -> OneEuroFilter.Options {
    var options = OneEuroFilter.Options()
    options.cutoff = cutoff
    options.speedWeight = speedWeight
    return options
  }

  @Test func valuesAreThoseOfTheDefinition() {
    // A weight is 1 / (1 + 1 / (2π · cutoff · interval)). At 0.1 s: the speed is 0.38587 · 10, the cutoff
    // 1 + 0.5 · 3.8587 = 2.92935, and the weight 0.647957.
    var filter = OneEuroFilter(Self.options())
    let given = [(0.0, 0.0), (0.1, 1), (0.3, 1), (0.35, 4)]
    let right = [0, 0.6479571695923358, 0.8943137694930172, 3.1765613929767307]
    for ((time, raw), value) in zip(given, right) { #expect(abs(filter.update(raw, at: time) - value) < 1e-9) }
  }

  @Test func lagOfASteadyMovementIsThatOfItsCutoff() throws {
    for (speed, weight) in [(1.0, 0.5), (4, 0.5), (4, 0)] {
      var filter = OneEuroFilter(Self.options(speedWeight: weight))
      for step in 0...3000 { filter.update(speed * Double(step) / 300, at: Double(step) / 300) }
      let lag = speed * 10 - (try #require(filter.value))
      // A low-pass filter follows a ramp at a distance of its speed times its time constant.
      #expect(abs(lag - speed / (2 * .pi * (1 + weight * speed))) < 0.01 * speed)
    }
  }

  @Test func jitterOfAStandingSignalShrinks() {
    var random = SeededGenerator(seed: 2)
    var filter = OneEuroFilter(Self.options(speedWeight: 0.05))
    var (raw, smoothed) = (0.0, 0.0)
    for step in 0..<600 {
      let noise = random.unit() - 0.5
      let value = filter.update(noise, at: Double(step) / 30)
      guard step > 60 else { continue }
      raw += noise * noise
      smoothed += value * value
    }
    #expect(smoothed < 0.25 * raw)
  }

  @Test func valuesAndTimesOutOfRangeChangeNothing() {
    var filter = OneEuroFilter()
    #expect(filter.update(.nan, at: 0).isNaN && filter.value == nil)
    #expect(filter.update(3, at: 0) == 3)
    for (raw, time) in [(5, 0), (5, -1), (.nan, 1), (.infinity, 1), (5, .nan)] {
      #expect(filter.update(raw, at: time) == 3)
    }
    #expect(filter.update(5, at: 1e299) == 5)
    #expect(filter.update(-1e300, at: 1e300).isFinite && filter.update(1e300, at: 1e300).isFinite)
  }
}
