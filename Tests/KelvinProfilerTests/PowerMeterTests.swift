import KelvinDevices
import KelvinMeasurements
import KelvinProfiler
import KelvinThermal
import TestSupport
import Testing

@Suite("Power of devices")
struct PowerMeterTests {
  private let processor = DeviceInfo(
    id: "cpu", name: "CPU", kind: .cpu, driver: "", version: "", memory: 0, resource: "cpu")
  private let card = DeviceInfo(
    id: "vulkan:0", name: "Card", kind: .discreteGPU, driver: "", version: "", memory: 0, resource: "00ff")

  private func meter(_ device: DeviceInfo, _ machine: ScriptedMachine) throws -> PowerMeter {
    let counters = EnergyCounters(files: SystemFiles(root: "/nowhere"), readers: [machine])
    return PowerMeter(
      device, counters: counters, envelope: try ThermalEnvelope(named: "desktop"), cores: 2,
      idle: IdlePower(counters, clock: machine), clock: machine)
  }

  @Test("a GPU's own counter measures its idle and busy power")
  func cardByItsCounter() throws {
    let machine = ScriptedMachine(["NVML Card (0)": 70, "RAPL package-0": 20])
    var meter = try meter(card, machine)
    meter.turn { machine.pass(0.01, ["NVML Card (0)": 9000]) }
    var inferences = 0
    meter.stretch {
      inferences += 1
      machine.pass(0.1, ["NVML Card (0)": 310, "RAPL package-0": 400])
    }
    #expect(inferences >= 6)
    #expect(abs(meter.power.idleWatts - 70) < 1e-6)
    #expect(abs(meter.power.busyWatts - 310) < 1e-6)
    #expect(meter.power.source == "measured by NVML Card (0)")
  }

  @Test("a GPU without a counter has a labelled guess")
  func cardWithoutCounter() throws {
    var meter = try meter(card, ScriptedMachine(["RAPL package-0": 20]))
    meter.stretch { Issue.record("nothing would be learnt from it") }
    #expect(meter.power.source.hasPrefix("a guess for the kind of device"))
  }

  @Test("the processor's power is measured over its own rounds")
  func processorByTurns() throws {
    let machine = ScriptedMachine(["RAPL package-0": 10, "NVML Card (0)": 70])
    var meter = try meter(processor, machine)
    for _ in 0..<3 { meter.turn { machine.pass(0.2, ["RAPL package-0": 60, "NVML Card (0)": 500]) } }
    machine.pass(5)
    meter.stretch { Issue.record("turns are enough for the processor") }
    #expect(abs(meter.power.idleWatts - 10) < 1e-6)
    #expect(abs(meter.power.busyWatts - 60) < 1e-6)
    #expect(meter.power.source == "measured by RAPL package-0")
  }
}
