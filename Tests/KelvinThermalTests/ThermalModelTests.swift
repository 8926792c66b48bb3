import Glibc
import KelvinBasics
import KelvinThermal
import Testing

@Suite("Thermal model")
struct ThermalModelTests {
  private func onePole(tau: Double, rise: Double) -> ThermalModel {
    ThermalModel(
      fast: ThermalPole(weight: 0, tau: 1), slow: ThermalPole(weight: 1, tau: tau), fastRise: rise, slowRise: rise)
  }

  private var twoPoles: ThermalModel {
    ThermalModel(
      fast: ThermalPole(weight: 0.5, tau: 5), slow: ThermalPole(weight: 0.5, tau: 120), fastRise: 0, slowRise: 1.9)
  }

  @Test("one pole, τ 30 s, from 0.4 at load 1.3: the limit comes after 32.958 s")
  func onePoleTimeToLimit() {
    #expect(abs(onePole(tau: 30, rise: 0.4).timeToLimit(load: 1.3) - 32.958) < 5e-4)
  }

  @Test("two poles can pass the limit at a load below it: at 0.583 s, with a peak of 1.3465 at 16.58 s")
  func overshoot() throws {
    let peak = try #require(twoPoles.peak(load: 0.95))
    #expect(abs(peak - 16.58) < 5e-3)
    #expect(abs(twoPoles.forecast(after: peak, load: 0.95) - 1.3465) < 5e-5)
    #expect(abs(twoPoles.timeToLimit(load: 0.95) - 0.583) < 5e-4)
  }

  @Test("at or below the sustainable load a cool machine never reaches the limit; a hot one is there already")
  func extremes() {
    #expect(onePole(tau: 30, rise: 0.4).timeToLimit(load: 1) == .infinity)
    #expect(onePole(tau: 30, rise: 0.4).timeToLimit(load: .nan) == .infinity)
    #expect(onePole(tau: 30, rise: 1).timeToLimit(load: 0) == 0)
    #expect(twoPoles.peak(load: 3) == nil)
  }

  @Test("the largest load stays at or below the limit at every moment, and a slightly larger one does not")
  func largestLoad() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<300 {
      let weight = random.unit()
      let model = ThermalModel(
        fast: ThermalPole(weight: weight, tau: 1 + 20 * random.unit()),
        slow: ThermalPole(weight: 1 - weight, tau: 30 + 600 * random.unit()), fastRise: 1.5 * random.unit(),
        slowRise: 1.5 * random.unit())
      let (start, length) = (1 + 10 * random.unit(), 300 * random.unit())
      let load = model.largestLoad(below: 0.95, from: start, until: start + length)
      func hottest(_ load: Double) -> Double {
        (0...2000).map { model.forecast(after: start + length * Double($0) / 2000, load: load) }.max() ?? 0
      }
      #expect(hottest(load) <= 0.95 + 1e-9)
      #expect(hottest(load + 0.01) > 0.95)
    }
    let cool = onePole(tau: 30, rise: 0.4)
    #expect(cool.largestLoad(below: 0.95, from: 10, until: .infinity) == 0.95)
    // 0.4 e^(-1/3) + q (1 - e^(-1/3)) = 0.95.
    #expect(abs(cool.largestLoad(below: 0.95, from: 10, until: 10) - 2.34025) < 1e-5)
  }

  @Test("a correction by load leaves the model as the missing load would have")
  func correctedByLoad() {
    var told = twoPoles
    told.advance(by: 7, load: 1.2)
    var corrected = twoPoles
    corrected.advance(by: 7, load: 0.5)
    let missing = corrected.correct(toHeadroom: told.headroom, byLoadDuring: 7)
    #expect(abs(missing - 0.7) < 1e-12)
    #expect(abs(corrected.fastRise - told.fastRise) < 1e-12 && abs(corrected.slowRise - told.slowRise) < 1e-12)
    let before = corrected
    #expect(corrected.correct(toHeadroom: .nan, byLoadDuring: 1) == 0)
    #expect(corrected.correct(toHeadroom: 1, byLoadDuring: 0) == 0)
    #expect(corrected == before)
  }

  @Test("the step is exact: any division of the same time gives the same headroom, as the forecast said")
  func exactStep() {
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let load = 2 * random.unit()
      let start = ThermalModel(
        fast: ThermalPole(weight: 0.4, tau: 2 + 8 * random.unit()),
        slow: ThermalPole(weight: 0.6, tau: 60 + 540 * random.unit()), fastRise: random.unit(), slowRise: random.unit())
      let seconds = 300 * random.unit()
      var inOneStep = start
      inOneStep.advance(by: seconds, load: load)
      var inMany = start
      for _ in 0..<37 { inMany.advance(by: seconds / 37, load: load) }
      #expect(abs(inOneStep.headroom - inMany.headroom) < 1e-12, "seed \(seed)")
      #expect(abs(inOneStep.headroom - start.forecast(after: seconds, load: load)) < 1e-12, "seed \(seed)")
    }
  }

  @Test("the time to the limit is the first crossing: just before it headroom is below 1, there it is 1")
  func crossingIsFirst() {
    var crossings = 0
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      let model = ThermalModel(
        fast: ThermalPole(weight: 0.5, tau: 2 + 8 * random.unit()),
        slow: ThermalPole(weight: 0.5, tau: 60 + 540 * random.unit()), fastRise: random.unit(),
        slowRise: 2 * random.unit())
      let load = 0.6 + random.unit()
      let limit = model.timeToLimit(load: load)
      guard limit > 0 else { continue }
      if limit.isFinite {
        crossings += 1
        #expect(abs(model.forecast(after: limit, load: load) - 1) < 1e-9, "seed \(seed)")
      }
      for step in 1..<200 {
        let time = (limit.isFinite ? limit : 3000) * Double(step) / 200
        #expect(model.forecast(after: time, load: load) < 1 + 1e-12, "seed \(seed)")
      }
    }
    #expect(crossings > 100)
  }

  @Test("a clock that stands still or runs backwards changes nothing")
  func badSteps() {
    var model = twoPoles
    for seconds in [0, -5, .nan, .infinity] { model.advance(by: seconds, load: 2) }
    model.advance(by: 1, load: .nan)
    #expect(model == twoPoles)
  }

  @Test("a measured headroom replaces the modelled one")
  func correction() {
    var model = twoPoles
    model.correct(toHeadroom: 0.6)
    #expect(abs(model.headroom - 0.6) < 1e-12)
    model.correct(toHeadroom: .nan)
    #expect(abs(model.headroom - 0.6) < 1e-12)
  }
}

@Suite("Thermal state")
struct ThermalStateTests {
  @Test("thresholds: both headroom and clock ratio must hold")
  func classification() {
    let cases: [(Double, Double, ThermalState)] = [
      (0.69, 0.97, .nominal), (0.70, 1, .fair), (0.5, 0.96, .fair), (0.85, 1, .serious), (0.5, 0.89, .serious),
      (1.0, 1, .critical), (0.5, 0.74, .critical), (1.4, 1, .critical),
    ]
    for (headroom, ratio, expected) in cases {
      #expect(ThermalStateFilter.classify(headroom: headroom, clockRatio: ratio) == expected, "\(headroom) \(ratio)")
    }
  }

  @Test("a change must last five seconds, and cooling needs 0.03 to spare")
  func dwellAndHysteresis() {
    var filter = ThermalStateFilter()
    #expect(filter.update(at: 0, headroom: 0.75) == .nominal)
    #expect(filter.update(at: 4.9, headroom: 0.75) == .nominal)
    #expect(filter.update(at: 5, headroom: 0.75) == .fair)
    #expect(filter.update(at: 10, headroom: 0.69) == .fair)
    #expect(filter.update(at: 30, headroom: 0.69) == .fair)
    #expect(filter.update(at: 31, headroom: 0.66) == .fair)
    #expect(filter.update(at: 36, headroom: 0.66) == .nominal)
  }

  @Test("a flicker around a threshold never changes the state")
  func flicker() {
    var filter = ThermalStateFilter()
    for second in 0..<100 {
      #expect(filter.update(at: Double(second), headroom: second % 4 == 0 ? 0.69 : 0.71) == .nominal)
    }
  }

  @Test("critical does not wait; unusable readings keep the state; a clock set back restarts the dwell")
  func edges() {
    var filter = ThermalStateFilter()
    #expect(filter.update(at: 1, headroom: 1.2) == .critical)
    #expect(filter.update(at: 2, headroom: .nan) == .critical)
    #expect(filter.update(at: 100, headroom: 0.1) == .critical)
    #expect(filter.update(at: 50, headroom: 0.1) == .critical)
    #expect(filter.update(at: 54, headroom: 0.1) == .critical)
    #expect(filter.update(at: 55, headroom: 0.1) == .nominal)
  }

  @Test("counted throttle events hold the state at serious at least")
  func floor() {
    var filter = ThermalStateFilter()
    #expect(filter.update(at: 0, headroom: 0.1, floor: .serious) == .nominal)
    #expect(filter.update(at: 6, headroom: 0.1, floor: .serious) == .serious)
  }
}
