import KelvinMeasurements
import KelvinThermal
import TestSupport
import Testing

@Suite("Thermal monitor")
struct ThermalMonitorTests {
  private let envelope = ThermalEnvelopeTests.fixed
  private let idle = ContentionCounters(busyTicks: 0, idleTicks: 0, stolenTicks: 0, pressureMicroseconds: 0)

  @Test("a temperature sensor is named with its degrees")
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

  @Test("in a guest the model follows utilisation and reports no degrees")
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

  @Test("a falling clock means heat only without background load")
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

  @Test("a virtual clock passes hours deterministically")
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

  @Test("a failing sensor is replaced by the next source and named")
  func vanishing() {
    var layout = Machines.armBoard
    for name in layout.keys.filter({ $0.contains("hwmon") }) { layout[name] = nil }
    for (second, rubbish) in ["-273000", "1000000000", "", "\u{1}\u{2}\u{3}", "0"].enumerated() {
      let tree = FixtureTree(layout)
      var monitor = ThermalMonitor(files: tree.files, envelope: envelope)
      let before = monitor.sample(at: Double(second))
      #expect(before.source == .sensor)
      #expect(before.remarks.isEmpty)
      tree.write("sys/class/thermal/thermal_zone0/temp", rubbish)
      let after = monitor.sample(at: Double(second) + 1)
      #expect(after.source == .model, "\(rubbish)")
      #expect(after.celsius == nil)
      #expect(after.headroom > 0.5 && after.headroom < before.headroom, "the model goes on from there")
      #expect(after.remarks == ["thermal zone cpu-thermal stopped answering"])
      tree.write("sys/class/thermal/thermal_zone0/temp", "67166")
      let again = monitor.sample(at: Double(second) + 2)
      #expect(again.source == .sensor)
      #expect(again.remarks.isEmpty)
    }
  }

  @Test("the first report of a hot machine is hot")
  func firstLook() {
    var layout = Machines.armBoard
    layout["sys/class/thermal/thermal_zone0/temp"] = "74000"
    let tree = FixtureTree(layout)
    var monitor = ThermalMonitor(files: tree.files, envelope: envelope)
    #expect(monitor.state == .nominal)
    #expect(monitor.sample(at: 0).state == .serious)
  }

  @Test("clock jumps do not disturb the monitor")
  func clocks() {
    var monitor = ThermalMonitor(files: FixtureTree.nothing, envelope: envelope)
    let none = SensorSnapshot()
    _ = monitor.update(at: 1e6, sensors: none, counters: nil, watts: 10)
    let rest = monitor.model.headroom
    #expect(monitor.update(at: 100, sensors: none, counters: nil, watts: 10).headroom == rest)
    #expect(monitor.update(at: 110, sensors: none, counters: nil, watts: 10).headroom > rest)
    #expect(abs(monitor.update(at: 1e9, sensors: none, counters: nil, watts: 5).headroom - 0.5) < 1e-9)
    let settled = monitor.model
    for time in [Double.nan, .infinity] { _ = monitor.update(at: time, sensors: none, counters: nil, watts: 50) }
    #expect(monitor.model == settled)
  }

  @Test("cpufreq counts on bare metal, once it has moved, while the machine is busy; never in a guest")
  func cpufreq() {
    func run(_ files: SystemFiles, _ clocks: [Double]) -> [Double?] {
      var monitor = ThermalMonitor(files: files, envelope: envelope)
      return clocks.enumerated().map { second, hertz in
        var sensors = SensorSnapshot()
        sensors.clocks = [ClockReading(sensor: "cpufreq", domain: .processor, hertz: hertz, highestHertz: 4e9)]
        return monitor.update(at: Double(second), sensors: sensors, counters: nil, utilisation: 0.9).clockRatio
      }
    }
    let metal = FixtureTree(["sys/class/dmi/id/sys_vendor": "LENOVO\n"])
    #expect(run(metal.files, [4e9, 4e9, 4e9]) == [nil, nil, nil])
    let throttled = run(metal.files, [1e9, 4e9, 3e9])
    #expect(throttled == [nil, 1, 0.75])
    let guest = FixtureTree(Machines.cloudGuest)
    #expect(run(guest.files, [1e9, 4e9, 3e9]) == [nil, nil, nil])
  }

  @Test("the clock of an idle core is not used")
  func clockClasses() {
    var probe = ClockProbe()
    let idle = Contention(steal: 0, pressure: 0, utilisation: 0.05)
    let busy = Contention(steal: 0, pressure: 0, utilisation: 0.95)
    probe.calibrate(stepsPerSecond: 8e8, contention: idle)
    #expect(probe.ratio(stepsPerSecond: 6e8, contention: busy) == nil)
    probe.calibrate(stepsPerSecond: 6e8, contention: busy)
    #expect(probe.ratio(stepsPerSecond: 6e8, contention: busy) == 1)
    #expect(probe.ratio(stepsPerSecond: 6e8, contention: idle) == 0.75)
  }

  @Test("a report can forecast another load")
  func outlook() throws {
    var monitor = ThermalMonitor(files: FixtureTree.nothing, envelope: envelope)
    let report = monitor.update(at: 0, sensors: SensorSnapshot(), counters: nil, watts: 4)
    let outlook = try #require(report.outlook)
    #expect(outlook.timeToLimit(dynamicWatts: 8) == .infinity)
    #expect(outlook.timeToLimit(dynamicWatts: 18) == monitor.model.timeToLimit(load: 2))
  }
}
