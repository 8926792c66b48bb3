import KelvinBench
import KelvinDevices
import KelvinMeasurements
import KelvinReport
import KelvinRuntime
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
    #expect(use.source == "measured by RAPL package-0, less 10.0 W ± 0.0 % at idle")
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

  @Test("noise below idle is not clipped, and the idle power's doubt grows with the time")
  func noise() throws {
    let machine = ScriptedMachine(["RAPL package-0": 10])
    var meter = try meter(machine)
    meter.start()
    machine.pass(2, ["RAPL package-0": 9])
    let use = meter.stop(devices: [processor])
    #expect(abs(try #require(use.joules) + 2) < 1e-9)
    #expect(use.doubt == 0)
  }

  @Test("an energy whose interval includes 0 is below its upper end")
  func below() {
    let unknown = InferenceEnergy(1e-3, doubt: 2e-3)
    #expect(unknown.joules == nil && unknown.text == "below 3.00 mJ")
    #expect(unknown.atMost.map { abs($0 - 3e-3) < 1e-12 } == true)
    #expect(InferenceEnergy(-1e-3, doubt: 3e-3).text == "below 2.00 mJ")
    #expect(InferenceEnergy(0, doubt: 0).joules == nil)
    let told = InferenceEnergy(5e-3, doubt: 1e-3)
    #expect(told.joules == 5e-3 && told.below == nil && told.text == "5.00 mJ (4.00 to 6.00)")
    #expect(InferenceEnergy(5e-3, doubt: nil).text == "5.00 mJ" && InferenceEnergy(nil, doubt: 1).text == nil)
  }

  @Test("a benchmark whose counter does not move prints no measured energy of 0")
  func tinyModel() throws {
    let clock = VirtualClock()
    let context = try chain(clock, devices: [TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-6 }])
    let tree = FixtureTree([
      "sys/class/powercap/intel-rapl:0/name": "package-0\n",
      "sys/class/powercap/intel-rapl:0/energy_uj": "262143000000\n",
      "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n",
    ])
    let workload = Workload(
      name: "test", kind: .stream, coldStarts: 0, starts: 0, iterations: 6, rounds: 6, warmSeconds: 0,
      framesPerSecond: 10, duration: 6)
    let result = try BenchmarkRunner(
      BenchmarkSubject(context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, loadSeconds: 0),
      workload, [BenchmarkConfiguration(label: "cpu", request: PlanRequest(units: UnitsSelection("cpu") ?? .all))],
      kelvinVersion: "test", envelope: .server, clock: clock, files: tree.files
    ).run()
    let sustained = try #require(result.configurations[0].sustained)
    #expect(sustained.isEnergyMeasured && sustained.joulesPerInference == nil)
    #expect(result.lines.contains { $0.hasPrefix("Energy per inference: cpu below ") }, "\(result.lines)")
    let json = String(decoding: try result.json(), as: UTF8.self)
    #expect(json.contains("\"joulesBelow\"") && !json.contains("\"joulesPerInference\" : 0"))
    #expect(result.report().configurations[0].energy?.hasPrefix("below ") == true)
  }
}
