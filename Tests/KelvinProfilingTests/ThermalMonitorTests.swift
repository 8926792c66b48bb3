import KelvinProfiling
import Testing

@Suite("Thermal monitor")
struct ThermalMonitorTests {
  private let envelope = ThermalEnvelopeTests.fixed
  private let idle = ContentionCounters(busyTicks: 0, idleTicks: 0, stolenTicks: 0, pressureMicroseconds: 0)

  @Test("with a temperature sensor it names it and gives its degrees")
  func sensor() {
    let tree = FixtureTree(Machines.armBoard)
    var monitor = ThermalMonitor(files: tree.files, envelope: envelope)
    let report = monitor.sample(at: 0)
    #expect(report.source == .sensor)
    #expect(report.sourceDescription == "thermal zone cpu-thermal, limit 80.0 °C")
    #expect(report.celsius == 67.166)
    #expect(abs(report.headroom - (67.166 - 25) / 55) < 1e-12)
    tree.write("sys/class/thermal/thermal_zone0/temp", "81000")
    #expect(monitor.sample(at: 1).state == .critical)
  }

  @Test("the hottest sensor with a stated limit counts, a hot disk or radio does not")
  func hottest() {
    let tree = FixtureTree(Machines.intelLaptop)
    var monitor = ThermalMonitor(files: tree.files, envelope: envelope)
    let report = monitor.sample(at: 0)
    #expect(report.sourceDescription == "hwmon coretemp \"Package id 0\", limit 100 °C")
    #expect(report.celsius == 73)
    let desktop = FixtureTree(Machines.amdDesktop)
    monitor = ThermalMonitor(files: desktop.files, envelope: envelope)
    #expect(monitor.sample(at: 0).sourceDescription == "hwmon k10temp \"Tctl\", limit 95.0 °C (limit assumed)")
  }

  @Test("with an energy counter alone the measured power feeds the model, against the package's own limit")
  func energy() {
    var monitor = ThermalMonitor(files: FixtureTree.nothing, envelope: envelope)
    func sensors(_ joules: Double) -> SensorSnapshot {
      var snapshot = SensorSnapshot()
      snapshot.energies = [
        EnergyReading(sensor: "RAPL package-0", joules: joules, rangeJoules: 1e6, limitWatts: 20)
      ]
      return snapshot
    }
    #expect(monitor.update(at: 0, sensors: sensors(0), counters: nil).source == .model)
    var report = monitor.update(at: 60, sensors: sensors(1800), counters: nil)
    #expect(report.source == .energy)
    #expect(report.watts == 30)
    #expect(report.celsius == nil)
    #expect(monitor.load == 1.5)
    report = monitor.update(at: 1200, sensors: sensors(36_000), counters: nil)
    #expect(report.state == .critical)
    #expect(report.timeToLimit == 0)
  }

  @Test("in a guest the model follows utilisation from /proc/stat, says so, and gives no degrees")
  func model() throws {
    let tree = FixtureTree(Machines.cloudGuest)
    var monitor = ThermalMonitor(files: tree.files, envelope: envelope)
    let first = monitor.sample(at: 0)
    #expect(first.source == .model)
    #expect(first.celsius == nil)
    #expect(abs(first.headroom - 0.2) < 1e-12)
    tree.write("proc/stat", Machines.stat(busy: 2000, idle: 1000, steal: 0))
    let second = monitor.sample(at: 10)
    #expect(second.sourceDescription == "two-pole model of the envelope \"fixed\" fed with utilisation")
    #expect(second.watts == 22)
    // h = 0.2 + 2.0 (0.5 (1 − e^(−10/5)) + 0.5 (1 − e^(−10/120))) = 1.1446207
    #expect(abs(second.headroom - 1.1446203) < 1e-6)
    #expect(second.state == .critical)
  }

  @Test("throttle events raise the state though the model is cool")
  func throttling() {
    var monitor = ThermalMonitor(files: FixtureTree.nothing, envelope: envelope)
    func sensors(_ events: Int) -> SensorSnapshot {
      var snapshot = SensorSnapshot()
      snapshot.throttle = ThrottleReading(coreEvents: events, packageEvents: 0)
      return snapshot
    }
    #expect(monitor.update(at: 0, sensors: sensors(5), counters: nil).source == .model)
    #expect(monitor.update(at: 1, sensors: sensors(6), counters: nil).source == .throttleCounter)
    let report = monitor.update(at: 7, sensors: sensors(9), counters: nil)
    #expect(report.throttleEvents == 3)
    #expect(report.state == .serious)
    #expect(monitor.update(at: 8, sensors: sensors(2), counters: nil).throttleEvents == 0)
  }

  @Test("a falling clock means heat while nobody disturbs, and nothing while somebody does")
  func clock() {
    var monitor = ThermalMonitor(files: FixtureTree.nothing, envelope: envelope, probe: ClockProbe())
    func counters(_ second: UInt64, pressure: UInt64) -> ContentionCounters {
      ContentionCounters(
        busyTicks: 10 * second, idleTicks: 90 * second, stolenTicks: 0, pressureMicroseconds: pressure)
    }
    let none = SensorSnapshot()
    _ = monitor.update(at: 0, sensors: none, counters: counters(0, pressure: 0), stepsPerSecond: 8e8)
    _ = monitor.update(at: 1, sensors: none, counters: counters(1, pressure: 0), stepsPerSecond: 6.4e8)
    let slow = monitor.update(at: 7, sensors: none, counters: counters(7, pressure: 0), stepsPerSecond: 6.4e8)
    #expect(slow.source == .clockProbe)
    #expect(slow.clockRatio == 0.8)
    #expect(slow.state == .serious)
    let disturbed = monitor.update(at: 8, sensors: none, counters: counters(8, pressure: 900_000), stepsPerSecond: 3e8)
    #expect(disturbed.source == .model)
    #expect(disturbed.clockRatio == nil)
    #expect(disturbed.contention?.pressure == 0.9)
  }

  @Test("hours pass in no time on the caller's clock, deterministically, and a clock set back does no harm")
  func simulated() {
    func run() -> [ThermalReport] {
      var monitor = ThermalMonitor(files: FixtureTree.nothing, envelope: envelope)
      return (0..<3600).map {
        monitor.update(at: Double($0) * 10, sensors: SensorSnapshot(), counters: nil, watts: 9)
      }
    }
    let reports = run()
    #expect(reports == run())
    #expect(abs((reports.last?.headroom ?? 0) - 0.9) < 1e-9)
    #expect(reports.last?.state == .serious)
    #expect(reports.last?.timeToLimit == nil)
    var monitor = ThermalMonitor(files: FixtureTree.nothing, envelope: envelope)
    _ = monitor.update(at: 100, sensors: SensorSnapshot(), counters: nil, watts: 20)
    let before = monitor.model
    _ = monitor.update(at: 50, sensors: SensorSnapshot(), counters: nil, watts: 20)
    #expect(monitor.model == before)
    #expect(abs(monitor.forecast(after: 1e9) - 2) < 1e-9)
  }
}
