import Glibc
import KelvinThermal
import TestSupport
import Testing

@Suite("Sensors on fixture trees")
struct SensorTests {
  @Test("Intel laptop: package temperature, limits, energy counter, throttle counts and clock")
  func intelLaptop() throws {
    let tree = FixtureTree(Machines.intelLaptop)
    let snapshot = SensorSnapshot.take(tree.files)
    #expect(!snapshot.temperatures.contains { $0.celsius < 0 })
    let zone = try #require(snapshot.temperatures.first { $0.sensor == "thermal zone x86_pkg_temp" })
    #expect(
      zone
        == TemperatureReading(
          sensor: "thermal zone x86_pkg_temp", domain: .processor, celsius: 71, limitCelsius: 95, limitIsAssumed: true))
    let package = try #require(snapshot.temperatures.first { $0.sensor == "hwmon coretemp \"Package id 0\"" })
    #expect(package.celsius == 73)
    #expect(package.limitCelsius == 100)
    #expect(!package.limitIsAssumed)
    #expect(abs(package.headroom - 0.64) < 1e-12)
    let strangers = snapshot.temperatures.filter { $0.domain == .other }.map(\.celsius)
    #expect(strangers == [20, 64.5, 99, 84.85, 51.2, 73, 58], "chipset, radio, disk, battery, embedded controller")
    #expect(snapshot.powers.isEmpty, "what the battery gives is not what the processor takes")
    #expect(
      snapshot.energies == [
        EnergyReading(sensor: "RAPL package-0", joules: 262143, rangeJoules: 262143.32885, limitWatts: 28)
      ])
    #expect(snapshot.throttle == ThrottleReading(coreEvents: 7, packageEvents: 20))
    #expect(
      snapshot.clocks == [ClockReading(sensor: "cpufreq", domain: .processor, hertz: 2.3e9, highestHertz: 4.6e9)])
  }

  @Test("AMD desktop: no stated limit is an assumed one; graphics power is read")
  func amdDesktop() throws {
    let snapshot = FixtureTree.reading(Machines.amdDesktop) { SensorSnapshot.take($0) }
    let control = try #require(snapshot.temperatures.first { $0.sensor == "hwmon k10temp \"Tctl\"" })
    #expect(
      control
        == TemperatureReading(
          sensor: "hwmon k10temp \"Tctl\"", domain: .processor, celsius: 81.5, limitCelsius: 95, limitIsAssumed: true))
    #expect(snapshot.temperatures.filter { $0.domain != .other }.count == 4)
    let junction = try #require(snapshot.temperatures.first { $0.sensor == "hwmon amdgpu \"junction\"" })
    #expect(junction.limitCelsius == 110)
    #expect(
      snapshot.powers == [
        PowerReading(sensor: "hwmon amdgpu power1_average", domain: .graphics, watts: 31, limitWatts: 203)
      ])
    #expect(snapshot.energies.map(\.sensor) == ["RAPL package-0"])
    #expect(snapshot.throttle == nil)
  }

  @Test("ARM board: the passive trip is the limit, whatever its index")
  func armBoard() {
    let snapshot = FixtureTree.reading(Machines.armBoard) { SensorSnapshot.take($0) }
    let processor = snapshot.temperatures.filter { $0.domain == .processor }
    #expect(
      processor == [
        TemperatureReading(sensor: "thermal zone cpu-thermal", domain: .processor, celsius: 67.166, limitCelsius: 80),
        TemperatureReading(
          sensor: "hwmon cpu_thermal \"temp1\"", domain: .processor, celsius: 67.166, limitCelsius: 110),
      ])
    #expect(snapshot.temperatures.count == 3)
  }

  @Test("cloud guest: no sensors are reported")
  func cloudGuest() {
    var expected = SensorSnapshot()
    expected.clocks = [ClockReading(sensor: "cpufreq", domain: .processor, hertz: 2e9, highestHertz: 2e9)]
    #expect(FixtureTree.reading(Machines.cloudGuest) { SensorSnapshot.take($0) } == expected)
  }

  @Test("missing, implausible and unreadable sensors are ignored")
  func nonsense() {
    var layout = Machines.armBoard
    for name in layout.keys.filter({ $0.contains("hwmon") }) { layout[name] = nil }
    for rubbish in ["", "hot", "99999999999999999999", "65535000", "-273000", "1000000000", "0", "\u{0}", "67 166"] {
      layout["sys/class/thermal/thermal_zone0/temp"] = rubbish
      #expect(FixtureTree.reading(layout) { SensorSnapshot.take($0).temperatures }.isEmpty, "\(rubbish)")
    }
    var throttle = Machines.intelLaptop
    throttle["sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"] = "\(Int.max)"
    #expect(FixtureTree.reading(throttle) { SensorSnapshot.take($0).throttle }?.coreEvents == 1 << 48)
    var energy = Machines.intelLaptop
    energy["sys/class/powercap/intel-rapl:0/energy_uj"] = "262143328851"
    #expect(FixtureTree.reading(energy) { SensorSnapshot.take($0).energies }.isEmpty)
  }

  @Test("unreadable sensors are reported", .enabled(if: geteuid() != 0, "root may read everything"))
  func denied() {
    let tree = FixtureTree(Machines.intelLaptop)
    chmod("\(tree.root)/sys/class/powercap/intel-rapl:0/energy_uj", 0)
    let snapshot = SensorSnapshot.take(tree.files)
    #expect(snapshot.energies.isEmpty)
    #expect(snapshot.remarks == ["RAPL package-0 is readable by root only (CVE-2020-8694)"])
  }

  @Test("boards name chips after their zones: the processor's count, the radio's do not")
  func zoneChips() {
    let names = ["bigcore0_thermal", "soc_thermal", "package_thermal", "gpu_thermal", "wifi_thermal", "ddr_thermal"]
    var layout: [String: String] = [:]
    for (index, name) in names.enumerated() {
      layout["sys/class/hwmon/hwmon\(index)/name"] = name
      layout["sys/class/hwmon/hwmon\(index)/temp1_input"] = "50000"
    }
    let domains = FixtureTree.reading(layout) { SensorSnapshot.take($0).temperatures.map(\.domain) }
    #expect(domains == [.processor, .processor, .processor, .graphics, .other, .other])
  }

  @Test("a counter reset is not a wrap")
  func counterReset() {
    func reading(_ joules: Double) -> EnergyReading {
      EnergyReading(sensor: "RAPL package-0", joules: joules, rangeJoules: 262_143)
    }
    #expect(reading(5).watts(since: reading(100_000), seconds: 1) == nil)
    #expect(reading(5).watts(since: reading(262_140), seconds: 1) == 8)
  }

  @Test("power from two readings, through the wrap of the counter")
  func energyWraps() throws {
    func reading(_ joules: Double) -> EnergyReading {
      EnergyReading(sensor: "RAPL package-0", joules: joules, rangeJoules: 1000)
    }
    #expect(reading(50).watts(since: reading(10), seconds: 2) == 20)
    #expect(reading(20).watts(since: reading(980), seconds: 2) == 20)
    #expect(reading(50).watts(since: reading(10), seconds: 0) == nil)
    let other = EnergyReading(sensor: "RAPL package-1", joules: 0, rangeJoules: 1000)
    #expect(reading(50).watts(since: other, seconds: 1) == nil)
  }
}

@Suite("Contention and clock")
struct ContentionTests {
  @Test("steal, pressure and utilisation are shares of the interval")
  func shares() throws {
    let tree = FixtureTree([
      "proc/stat": Machines.stat(busy: 100, idle: 900, steal: 0), "proc/pressure/cpu": Machines.pressure(5),
    ])
    let before = try #require(ContentionReader(tree.files).counters())
    tree.write("proc/stat", Machines.stat(busy: 160, idle: 930, steal: 10))
    tree.write("proc/pressure/cpu", Machines.pressure(500_005))
    let after = try #require(ContentionReader(tree.files).counters())
    let contention = try #require(ContentionReader.between(before, after, seconds: 1))
    #expect(contention == Contention(steal: 0.1, pressure: 0.5, utilisation: 0.6))
    #expect(!contention.isFlat)
    #expect(Contention(steal: 0.01, pressure: 0.05, utilisation: 1).isFlat)
    #expect(Contention(steal: 0.01, pressure: nil, utilisation: 1).isFlat)
    #expect(ContentionReader.between(after, before, seconds: 1) == nil)
    #expect(ContentionReader.between(before, before, seconds: 1) == nil)
  }

  @Test("waiting of the process's own threads is not background load")
  func ownThreads() throws {
    let tree = FixtureTree([
      "proc/stat": Machines.stat(busy: 100, idle: 900, steal: 0), "proc/pressure/cpu": Machines.pressure(0),
      "proc/self/stat": "42 (a ) b) R 1 42 42 0 -1 0 0 0 0 0 60 20 0 0 20 0 5 0 1",
    ])
    let before = try #require(ContentionReader(tree.files).counters())
    #expect(before.ownTicks == 80)
    tree.write("proc/stat", Machines.stat(busy: 190, idle: 910, steal: 0))
    tree.write("proc/pressure/cpu", Machines.pressure(600_000))
    tree.write("proc/self/stat", "42 (a ) b) R 1 42 42 0 -1 0 0 0 0 0 110 50 8 0 20 0 5 0 1")
    let after = try #require(ContentionReader(tree.files).counters())
    let own = try #require(ContentionReader.between(before, after, seconds: 1))
    #expect(abs((own.neighbours ?? -1) - 0.02) < 1e-12)
    #expect(!own.isDisturbed)
    #expect(!own.isFlat)
    var foreign = own
    foreign.neighbours = 0.2
    #expect(foreign.isDisturbed)
    // On a machine with spare processors, other processes take no time from this one.
    foreign.pressure = 0.01
    #expect(!foreign.isDisturbed)
    #expect(Contention(steal: 0.05, pressure: 0, utilisation: 0.5, neighbours: 0).isDisturbed)
    #expect(Contention(steal: 0, pressure: 0.3, utilisation: 1).isDisturbed)
    #expect(!Contention(steal: 0, pressure: nil, utilisation: 1).isDisturbed)
  }

  @Test("a kernel without steal or pressure, and a file of rubbish")
  func oldKernels() throws {
    let old = FixtureTree(["proc/stat": "cpu  10 0 5 85\n"])
    #expect(ContentionReader(old.files).counters() == ContentionCounters(busyTicks: 15, idleTicks: 85, stolenTicks: 0))
    for rubbish in ["", "cpu  1 2\n", "cpu  a b c d\n", "cpu0 1 2 3 4\n"] {
      #expect(FixtureTree.reading(["proc/stat": rubbish]) { ContentionReader($0).counters() } == nil, "\(rubbish)")
    }
  }

  @Test("a clock ratio counts only while steal and pressure are low")
  func belief() {
    var probe = ClockProbe()
    let flat = Contention(steal: 0, pressure: 0, utilisation: 1)
    #expect(probe.ratio(stepsPerSecond: 1, contention: flat) == nil)
    probe.calibrate(stepsPerSecond: 8e8, contention: flat)
    probe.calibrate(stepsPerSecond: 7e8, contention: flat)
    #expect(probe.ratio(stepsPerSecond: 6e8, contention: flat) == 0.75)
    #expect(probe.ratio(stepsPerSecond: 6e8, contention: Contention(steal: 0.1, pressure: 0, utilisation: 1)) == nil)
    #expect(probe.ratio(stepsPerSecond: 6e8, contention: Contention(steal: 0, pressure: 0.5, utilisation: 1)) == nil)
    #expect(probe.ratio(stepsPerSecond: 6e8, contention: nil) == nil)
    #expect(probe.ratio(stepsPerSecond: .nan, contention: flat) == nil)
  }

  @Test("the chain really runs: its time grows with its length")
  func chainRuns() {
    let rate = ClockProbe(steps: 50_000, repeats: 3).measure()
    // Between a 20 MHz and a 20 GHz processor at four cycles a step.
    #expect(rate > 5e6)
    #expect(rate < 5e9)
  }

  @Test("the pace of the processors is that of the chain, for any number of threads", arguments: [0, 1, 64])
  func pace(threads: Int) {
    let pace = ProcessorPace.measure(threads: threads)
    // Each of 64 threads on two busy processors advances at a small share of a 20 MHz processor's pace at least.
    #expect(pace > 1e4 && pace < 5e9, "\(pace)")
  }
}
