import Glibc
import KelvinBasics
import KelvinMeasurements
import KelvinThermal
import TestSupport
import Testing

@Suite("Calibration of an envelope")
struct CalibrationTests {
  private func close(_ value: Double, _ expected: Double, within share: Double) -> Bool {
    abs(value - expected) <= share * expected
  }

  @Test("every class of machine, sensors in steps of 1 °C and of 1 m°C: time constants within 10 %, watts within 5 %")
  func recovers() throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    var generator = SeededGenerator(seed: seed)
    for envelope in ThermalEnvelope.shipped {
      for step in [1, 0.001] {
        let machine = SimulatedMachine(
          .init(envelope: envelope, hasFiles: step == 1, step: step), seed: generator.next())
        let calibration = try machine.calibrated(load: max(240, envelope.slow.tau))
        let found = calibration.envelope
        let comment: Comment = "\(envelope.name), \(step) °C, seed \(seed)"
        #expect(close(found.fast.tau, envelope.fast.tau, within: 0.1), comment)
        #expect(close(found.slow.tau, envelope.slow.tau, within: 0.1), comment)
        #expect(abs(found.fast.weight - envelope.fast.weight) < 0.03, comment)
        #expect(close(found.idleWatts, envelope.idleWatts, within: 0.05), comment)
        #expect(close(found.fullLoadWatts, envelope.fullLoadWatts, within: 0.05), comment)
        #expect(close(found.sustainableWatts, envelope.sustainableWatts, within: 0.05), comment)
        #expect(calibration.remarks.isEmpty, comment)
      }
    }
  }

  @Test("random machines: time constants within 10 %, and their intervals hold the truth in at least 8 of 10")
  func randomMachines() throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    var generator = SeededGenerator(seed: seed)
    func within(_ range: ClosedRange<Double>) -> Double {
      range.lowerBound * pow(range.upperBound / range.lowerBound, generator.unit())
    }
    var held = 0
    let count = 12
    for _ in 0..<count {
      var envelope = ThermalEnvelope.desktop
      let weight = 0.25 + 0.4 * generator.unit()
      envelope.fast = ThermalPole(weight: weight, tau: within(2...10))
      envelope.slow = ThermalPole(weight: 1 - weight, tau: within(60...300))
      envelope.sustainableWatts = within(40...120)
      let machine = SimulatedMachine(
        .init(envelope: envelope, step: generator.unit() < 0.5 ? 1 : 0.001, noise: 0.5 * generator.unit()),
        seed: generator.next())
      let fit = try machine.calibrated(load: 300).fit
      #expect(close(fit.fast.tau, envelope.fast.tau, within: 0.1), "\(envelope.fast), seed \(seed)")
      #expect(close(fit.slow.tau, envelope.slow.tau, within: 0.1), "\(envelope.slow), seed \(seed)")
      held += fit.fast.tauInterval.contains(envelope.fast.tau) ? 1 : 0
      held += fit.slow.tauInterval.contains(envelope.slow.tau) ? 1 : 0
    }
    #expect(held * 10 >= 2 * count * 8, "\(held) of \(2 * count), seed \(seed)")
  }

  @Test("a calibrated envelope round-trips with the source of each coefficient")
  func readsAsAFile() throws {
    let simulated = SimulatedMachine(.init(envelope: .server), seed: 1)
    let found = try simulated.calibrated().envelope
    let back = try ThermalEnvelope(json: try found.json(), document: "calibrated.json")
    #expect(back == found)
    var other = simulated.machine
    other.memoryBytes += 1
    #expect(back.isCalibrated(on: other))
    other.logicalCores += 1
    #expect(!back.isCalibrated(on: other) && !ThermalEnvelope.server.isCalibrated(on: simulated.machine))
    for coefficient in ThermalEnvelope.coefficients where coefficient != "slow.weight" {
      let source = try #require(found.sources[coefficient])
      #expect(source.contains("measured: ") && source.contains(" to "), "\(source)")
    }
    #expect(found.sources["fast.tau"]?.contains("hwmon coretemp \"Package id 0\" to power of RAPL package-0") == true)
  }

  @Test("temperature alone: time constants and weights are measured, watts are the class's and say so")
  func temperatureAlone() throws {
    let machine = SimulatedMachine(.init(envelope: .server, showsPower: false, load: 0.7), seed: 2)
    let calibration = try machine.calibrated()
    let found = calibration.envelope
    #expect(close(found.fast.tau, 3, within: 0.1))
    #expect(close(found.slow.tau, 90, within: 0.1))
    #expect((found.idleWatts, found.fullLoadWatts) == (10, 117))
    #expect(found.sources["fullLoadWatts"] == "assumed: the class \"desktop\"")
    #expect(calibration.remarks.contains { $0.contains("nothing measured power") })
  }

  @Test("throttling without power readings is not fitted")
  func throttledWithoutPower() throws {
    let machine = SimulatedMachine(.init(envelope: .phone, showsPower: false), seed: 3)
    #expect {
      try machine.calibrated()
    } throws: {
      guard case .throttled(let sensor, let celsius, let limit)? = $0 as? CalibrationError else { return false }
      return sensor.contains("coretemp") && celsius >= 99 && limit == 100
    }
  }

  @Test("no temperature: refused before any load, with what there is instead and a remedy", arguments: [true, false])
  func noTemperature(showsPower: Bool) throws {
    let machine = SimulatedMachine(
      .init(envelope: .server, hasFiles: true, showsTemperature: false, showsPower: showsPower), seed: 4)
    #expect(throws: CalibrationError.noTemperature(measuresPower: showsPower, isVirtualised: false)) {
      try machine.recorder.record(CalibrationSchedule(), setLoad: { _ in Issue.record("nothing is to be loaded") })
    }
    let text = "\(CalibrationError.noTemperature(measuresPower: showsPower, isVirtualised: true))"
    #expect(text.contains("power is measured") == showsPower)
    #expect(text.contains("calibrate on the host"))
  }

  @Test("a sensor that the load does not affect is refused")
  func unmoved() throws {
    let machine = SimulatedMachine(.init(envelope: .server, coupling: 0.01), seed: 5)
    #expect {
      try machine.calibrated()
    } throws: {
      guard case .unmoved(_, let atRest, let atLoad, let needed)? = $0 as? CalibrationError else { return false }
      return atLoad - atRest < needed && needed >= 2
    }
  }

  @Test("too short a recording says how long it needs, and that long is long enough", arguments: [10.0, 40.0])
  func tooShort(load: Double) throws {
    var needed = load
    for attempt in 0..<5 {
      let machine = SimulatedMachine(.init(envelope: .phone), seed: UInt64(6 + attempt))
      do {
        let found = try machine.calibrated(load: needed).envelope
        #expect(attempt > 0, "\(load) s are too short")
        #expect(close(found.slow.tau, 180, within: 0.15))
        return
      } catch CalibrationError.tooShort(let seconds, let longer, _) {
        #expect(abs(seconds - needed) < 1)
        #expect(longer > needed)
        needed = longer
      }
    }
    Issue.record("what was said to be needed was refused again and again")
  }

  @Test("a sensor that stops reporting is refused")
  func silent() throws {
    let machine = SimulatedMachine(.init(envelope: .server, silentAfter: 200), seed: 9)
    #expect {
      try machine.calibrated()
    } throws: {
      guard case .sensorLost(let sensor, let share)? = $0 as? CalibrationError else { return false }
      return sensor.contains("coretemp") && share > 0.5
    }
  }

  @Test("an interrupt ends the load and leaves no recording")
  func interrupted() throws {
    struct Stop: Error {}
    let machine = SimulatedMachine(.init(envelope: .server), seed: 10)
    var loads: [Bool] = []
    #expect(throws: Stop.self) {
      try machine.recorder.record(
        CalibrationSchedule(), setLoad: { loads.append($0) }, look: { at, _ in if at > 100 { throw Stop() } })
    }
    #expect(loads == [true, false])
  }

  @Test("time constants beyond the search range are found at its end", arguments: [(0.05, 60.0), (3.0, 20_000.0)])
  func beyondTheRange(fast: Double, slow: Double) throws {
    let times = (0..<2000).map { Double($0) / 2 }
    let watts = times.map { $0 < 60 || $0 > 600 ? 10.0 : 100.0 }
    var (a, b) = (0.0, 0.0)
    let celsius = zip(times, watts).map { time, power -> Double in
      let step = time > 0 ? 0.5 : 0
      a += (1 - exp(-step / fast)) * (0.2 * power - a)
      b += (1 - exp(-step / slow)) * (0.5 * power - b)
      return 20 + a + b
    }
    let fit = try #require(TwoPoleFit(times: times, watts: watts, celsius: celsius, limitCelsius: 100))
    #expect(fit.fast.tau >= 0.5 && fit.slow.tau <= 2400)
    #expect(fit.fast.tau == 0.5 || fit.slow.tau == 2400, "\(fit.fast.tau) s, \(fit.slow.tau) s")
  }

  @Test("invalid series give no fit and no crash")
  func hostileSeries() {
    let times = (0..<200).map(Double.init)
    func fit(_ watts: [Double], _ celsius: [Double]) -> TwoPoleFit? {
      TwoPoleFit(times: times, watts: watts, celsius: celsius, limitCelsius: 100)
    }
    #expect(TwoPoleFit(times: [], watts: [], celsius: [], limitCelsius: 100) == nil)
    #expect(fit(times.map { _ in 10 }, times.map { _ in 40 }) == nil, "constant power explains nothing")
    #expect(fit(times.map { _ in 0 }, times) == nil)
    #expect(fit(times.map { $0 < 100 ? 0 : 10 }, times.map { $0 < 100 ? 40 : 20 }) == nil, "it cools under load")
    #expect(fit(times.map { _ in .nan }, times) == nil)
  }
}
