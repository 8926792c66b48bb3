import CFakeNVML
import KelvinThermal
import TestSupport
import Testing

/// A card by the real function table, over a library whose functions are real C functions.
@Suite("NVML", .serialized)
struct NVMLTests {
  private func library(missing: String? = nil) throws(NVMLLibrary.Failure) -> NVMLLibrary {
    guard let missing else { return try NVMLLibrary(find: fake_nvml_find, context: nil) }
    var result: Result<NVMLLibrary, NVMLLibrary.Failure>?
    var name = Array(missing.utf8CString)
    name.withUnsafeMutableBufferPointer { name in
      result = Result { () throws(NVMLLibrary.Failure) in
        try NVMLLibrary(find: fake_nvml_find, context: UnsafeMutableRawPointer(name.baseAddress))
      }
    }
    guard let result else { throw .init(isAbsent: true, reason: "not looked up") }
    return try result.get()
  }

  /// A healthy card at 61 °C of 87, drawing 180 of 350 W.
  private func reset() {
    fake_nvml().pointee = FakeNVML(
      initFailure: 0, failure: 0, readFailure: 0, count: 1, celsius: 61, slowdownCelsius: 87, milliwatts: 180_000,
      limitMilliwatts: 350_000, millijoules: 5_000_000, megahertz: 1200, highestMegahertz: 1800, reasons: 0, calls: 0)
  }

  private func take(_ library: NVMLLibrary) -> SensorSnapshot {
    SensorSnapshot.take(FixtureTree.nothing, readers: [NVMLReader(library: library)])
  }

  @Test("temperature, limit, power, energy, clock and identity of a card")
  func healthy() throws {
    reset()
    let library = try library()
    let snapshot = take(library)
    let sensor = "NVML NVIDIA Fake (0)"
    let card = HardwareIdentity("00112233445566778899aabbccddeeff")
    #expect(
      snapshot.temperatures == [
        TemperatureReading(sensor: sensor, domain: .graphics, celsius: 61, limitCelsius: 87, limitIsAssumed: false)
      ])
    #expect(
      snapshot.powers == [
        PowerReading(sensor: sensor, domain: .graphics, watts: 180, limitWatts: 350, resource: card)
      ])
    #expect(snapshot.energies.map(\.joules) == [5000])
    #expect(snapshot.energies.map(\.resource) == [card])
    #expect(
      snapshot.clocks == [ClockReading(sensor: sensor, domain: .graphics, hertz: 1.2e9, highestHertz: 1.8e9)])
    #expect(snapshot.throttleReasons.isEmpty)
    #expect(snapshot.remarks.isEmpty)
    #expect(fake_nvml().pointee.calls > 8)
  }

  @Test("heat lowers the state to serious and says why; a power cap is a remark and no heat")
  func throttleReasons() throws {
    reset()
    let library = try library()
    fake_nvml().pointee.reasons = 0x40 | 0x4
    let snapshot = take(library)
    #expect(snapshot.throttleReasons.map(\.reason) == ["hardware thermal slowdown", "power cap"])
    #expect(snapshot.throttleReasons.map(\.isHeat) == [true, false])
    var monitor = ThermalMonitor(
      files: FixtureTree.nothing, readers: [NVMLReader(library: library)], envelope: ThermalEnvelopeTests.fixed)
    fake_nvml().pointee.celsius = 999
    let report = monitor.sample(at: 0)
    #expect(report.state == .serious)
    #expect(report.celsius == nil)
    #expect(report.remarks == ["NVML NVIDIA Fake (0): clock lowered by power cap"])
    fake_nvml().pointee.reasons = 0x4
    #expect(take(library).throttleReasons.map(\.isHeat) == [false])
  }

  @Test("measured power feeds the model against the card's own limit; the source is named")
  func monitored() throws {
    reset()
    let library = try library()
    var monitor = ThermalMonitor(
      files: FixtureTree.nothing, readers: [NVMLReader(library: library)], envelope: ThermalEnvelopeTests.fixed)
    var report = monitor.sample(at: 0)
    #expect(report.source == .sensor)
    #expect(report.sourceDescription == "NVML NVIDIA Fake (0), limit 87.0 °C")
    fake_nvml().pointee.millijoules += 2_800_000
    fake_nvml().pointee.celsius = 0
    report = monitor.sample(at: 10)
    #expect(report.source == .energy)
    #expect(report.watts == 280)
    #expect(abs(monitor.load - 0.8) < 1e-12)
  }

  @Test("a GPU that is lost is reported and can return")
  func lost() throws {
    reset()
    let library = try library()
    var monitor = ThermalMonitor(
      files: FixtureTree.nothing, readers: [NVMLReader(library: library)], envelope: ThermalEnvelopeTests.fixed)
    let hot = monitor.sample(at: 0)
    fake_nvml().pointee.readFailure = 15
    let blind = monitor.sample(at: 1)
    #expect(blind.source == .model)
    #expect(blind.celsius == nil)
    #expect(abs(blind.headroom - hot.headroom) < 0.2)
    #expect(blind.remarks.contains("NVML NVIDIA Fake (0): no temperature: GPU is lost"))
    #expect(blind.remarks.contains("NVML NVIDIA Fake (0) stopped answering"))
    fake_nvml().pointee.count = 0
    #expect(monitor.sample(at: 2).source == .model)
    fake_nvml().pointee.failure = 15
    #expect(take(library).remarks == ["NVML: the cards cannot be counted: GPU is lost"])
    reset()
    #expect(monitor.sample(at: 3).source == .sensor)
  }

  @Test("old functions are required, and newer ones are optional")
  func missingSymbols() throws {
    reset()
    for name in ["nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetTemperature"] {
      let failure = #expect(throws: NVMLLibrary.Failure.self) { try library(missing: name) }
      #expect(failure == .init(isAbsent: false, reason: "the library has no \(name)"))
    }
    for name in [
      "nvmlDeviceGetUUID", "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetPowerUsage", "nvmlErrorString",
      "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetClockInfo", "nvmlDeviceGetCurrentClocksThrottleReasons",
    ] {
      let snapshot = take(try library(missing: name))
      #expect(snapshot.temperatures.map(\.celsius) == [61], "\(name)")
    }
    let old = take(try library(missing: "nvmlDeviceGetTemperatureThreshold"))
    #expect(old.temperatures.map(\.limitIsAssumed) == [true])
  }

  @Test("a missing, foreign or failing library is distinguished")
  func unusable() throws {
    reset()
    let absent = #expect(throws: NVMLLibrary.Failure.self) { try NVMLLibrary(path: "libno-such-thing.so.1") }
    #expect(absent?.isAbsent == true)
    let other = #expect(throws: NVMLLibrary.Failure.self) { try NVMLLibrary(path: "libm.so.6") }
    #expect(other == .init(isAbsent: false, reason: "the library has no nvmlInit_v2"))
    fake_nvml().pointee.initFailure = 9
    let stopped = #expect(throws: NVMLLibrary.Failure.self) { try library() }
    #expect(stopped == .init(isAbsent: false, reason: "Driver Not Loaded"))
    fake_nvml().pointee.initFailure = 77
    #expect(throws: NVMLLibrary.Failure.init(isAbsent: false, reason: "status 77")) {
      try library(missing: "nvmlErrorString")
    }
  }

  @Test("a fixture tree does not query the GPUs of this machine")
  func fixtures() {
    #expect(SensorSnapshot.take(FixtureTree.nothing) == SensorSnapshot())
  }
}
