import KelvinMeasurements
import KelvinThermal
import Synchronization
import Testing

/// A counter whose reading is a function of the time, on a clock that only waiting advances.
private final class ScriptedCounter: SensorReader, MeasurementClock {
  static let name = "script"
  private let time = Mutex(0.0)
  private let joules: @Sendable (Double) -> Double

  init(_ joules: @escaping @Sendable (Double) -> Double) { self.joules = joules }

  func now() -> Double { time.withLock { $0 } }
  func sleep(until deadline: Double) { time.withLock { $0 = max($0, deadline) } }
  func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    snapshot.energies.append(
      EnergyReading(
        sensor: "RAPL package-0", domain: .processor, joules: joules(now()), rangeJoules: 1e9, resource: nil))
  }
}

@Suite struct IdlePowerTests {
  private func measure(
    atMost seconds: Double = 6, _ joules: @escaping @Sendable (Double) -> Double
  ) throws -> (power: IdlePower.Reading, seconds: Double) {
    let counter = ScriptedCounter(joules)
    let counters = EnergyCounters(files: SystemFiles(root: "/nowhere"), readers: [counter])
    let power = IdlePower(counters, clock: counter, atMost: seconds)
    return (try #require(power.sensors["RAPL package-0"]), counter.now())
  }

  @Test func steadyPowerIsKnownAfterAFewWindows() throws {
    let (power, seconds) = try measure { 12 * $0 }
    #expect(abs(power.watts - 12) < 1e-9 && power.doubt < 1e-9)
    #expect(seconds == 2.5)
  }

  @Test func workBeforeTheRestDoesNotCount() throws {
    // The counter is a quarter of a second late: until then it counts 60 W of earlier work.
    let (power, _) = try measure { 60 * min($0, 0.25) + 10 * max(0, $0 - 0.25) }
    #expect(abs(power.watts - 10) < 1e-9)
  }

  @Test func unsteadyPowerTakesTheBudgetAndHasAnInterval() throws {
    // 10 W ± 30 %, in turns of 0.7 s.
    let steady = try measure(atMost: 10) { 10 * $0 }
    let (power, seconds) = try measure(atMost: 10) { time in
      let turns = Int(time / 0.7)
      let rest = time - 0.7 * Double(turns)
      let whole = 0.7 * (13.0 * Double((turns + 1) / 2) + 7.0 * Double(turns / 2))
      return whole + rest * (turns.isMultiple(of: 2) ? 13 : 7)
    }
    #expect(seconds > steady.seconds && seconds <= 10)
    #expect(power.doubt > 0.1 && abs(power.watts - 10) <= power.doubt, "\(power)")
  }

  @Test func machineWithoutCountersIsNotWaitedFor() {
    let counter = ScriptedCounter { _ in 0 }
    let power = IdlePower(EnergyCounters(files: SystemFiles(root: "/nowhere"), readers: []), clock: counter)
    #expect(power.sensors.isEmpty && counter.now() == 0)
  }
}
