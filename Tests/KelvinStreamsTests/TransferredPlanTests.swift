import KelvinMeasurements
import KelvinStreams
import KelvinThermal
import Testing

@Suite("Plans transferred to another class of machine")
struct TransferredPlanTests {
  private let machine = MachineDescription(
    processor: "a test", architecture: "x86_64", logicalCores: 4, memoryBytes: 1 << 32, kernel: "6.1",
    isVirtualised: false)

  @Test("seconds stay, and joules scale with the ranges of the envelopes")
  func scaled() throws {
    let desktop = try ThermalEnvelope(named: "desktop")
    let phone = try ThermalEnvelope(named: "phone")
    let plan = StreamPlan.carriedOver(
      label: "cpu-only", secondsPerFrame: 0.02, joules: 1.07, source: "measured by RAPL package-0", isMeasured: true,
      on: machine, from: desktop, to: phone)
    // (8 − 0.5) / (117 − 10) of 1.07 J
    #expect(abs(plan.joulesPerFrame - 0.075) < 1e-12)
    #expect(plan.secondsPerFrame == 0.02)
    #expect(plan.energySource == "measured by RAPL package-0; × 0.070 to \"phone\"")
  }

  @Test("joules measured on the calibrated machine stay, and estimates are scaled")
  func calibrated() throws {
    var own = try ThermalEnvelope(named: "phone")
    own.calibratedOn = machine.hardware
    func joules(isMeasured: Bool, on machine: MachineDescription) -> Double {
      StreamPlan.carriedOver(
        label: "cpu", secondsPerFrame: 0.02, joules: 1.07, source: "", isMeasured: isMeasured, on: machine,
        from: .desktop, to: own
      ).joulesPerFrame
    }
    #expect(joules(isMeasured: true, on: machine) == 1.07)
    #expect(abs(joules(isMeasured: false, on: machine) - 0.075) < 1e-12)
    var other = machine
    other.processor = "another"
    #expect(abs(joules(isMeasured: true, on: other) - 0.075) < 1e-12)
  }

  @Test("an unknown energy is the whole range and is labelled as assumed")
  func unknown() throws {
    let phone = try ThermalEnvelope(named: "phone")
    let plan = StreamPlan.carriedOver(
      label: "vulkan:0", secondsPerFrame: 0.02, joules: nil, source: "", isMeasured: false, on: machine, from: phone,
      to: phone)
    #expect(abs(plan.joulesPerFrame - 0.15) < 1e-12)
    #expect(plan.energySource.hasPrefix("assumed"))
  }
}
