import KelvinBench
import KelvinDevices
import KelvinMeasurements
import KelvinThermal
import TestSupport
import Testing

@Suite("Energy meter")
struct EnergyMeterTests {
  private let processor = DeviceInfo(
    id: "cpu", name: "CPU", kind: .cpu, driver: "", version: "", memory: 0, resource: "cpu")
  private let card = DeviceInfo(
    id: "vulkan:0", name: "Card", kind: .discreteGPU, driver: "", version: "", memory: 0, resource: "00ff")
  private let stranger = DeviceInfo(
    id: "vulkan:1", name: "Other", kind: .discreteGPU, driver: "", version: "", memory: 0, resource: "aa")

  private func meter(_ machine: ScriptedMachine) throws -> EnergyMeter {
    EnergyMeter(
      counters: EnergyCounters(files: SystemFiles(root: "/nowhere"), readers: [machine]),
      envelope: try ThermalEnvelope(named: "desktop"), cores: 2, clock: machine)
  }

  @Test("measured energy excludes the idle energy")
  func aboveIdle() throws {
    let machine = ScriptedMachine(["RAPL package-0": 10])
    var meter = try meter(machine)
    meter.start()
    machine.pass(2, ["RAPL package-0": 60])
    let use = meter.stop(devices: [processor])
    #expect(abs(try #require(use.joules) - 100) < 1e-9)
    #expect(use.isMeasured)
    #expect(use.source == "measured by RAPL package-0, less 10.0 W at idle")
  }

  @Test("one counter wrap is corrected")
  func wrap() throws {
    let machine = ScriptedMachine(["RAPL package-0": 0], from: 999_950)
    var meter = try meter(machine)
    meter.start()
    machine.pass(2, ["RAPL package-0": 60])
    #expect(abs(try #require(meter.stop(devices: [processor]).joules) - 120) < 1e-6)
  }

  @Test("a vanished or reset counter is replaced by a labelled estimate")
  func vanished() throws {
    for joules in [nil, 5.0] {
      let machine = ScriptedMachine(["RAPL package-0": 1], from: 500_000)
      var meter = try meter(machine)
      meter.start()
      machine.pass(2)
      machine.set("RAPL package-0", joules)
      let use = meter.stop(devices: [processor])
      #expect(!use.isMeasured)
      #expect(use.source.hasPrefix("estimated: CPU time"))
      #expect(use.source.hasSuffix("RAPL package-0 stopped answering"))
      #expect(try #require(use.joules) >= 0)
    }
  }

  @Test("a GPU adds its own counter; an unmeasured GPU leaves the energy unknown")
  func cards() throws {
    let machine = ScriptedMachine(["RAPL package-0": 10, "NVML Card (0)": 30])
    var meter = try meter(machine)
    meter.start()
    machine.pass(1, ["RAPL package-0": 20, "NVML Card (0)": 230])
    let use = meter.stop(devices: [card])
    #expect(abs(try #require(use.joules) - 210) < 1e-9)
    #expect(use.isMeasured)
    #expect(
      meter.stop(devices: [stranger])
        == EnergyUse(
          joules: nil, source: "unknown: nothing measures vulkan:1", isMeasured: false))
  }

  @Test("without counters the energy is estimated from CPU time")
  func estimated() throws {
    let machine = ScriptedMachine([:])
    var meter = try meter(machine)
    #expect(machine.now() == 0)
    meter.start()
    let use = meter.stop(devices: [processor])
    #expect(!use.isMeasured)
    #expect(use.source.contains("envelope \"desktop\""))
  }
}
