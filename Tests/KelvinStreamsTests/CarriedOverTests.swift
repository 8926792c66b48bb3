import KelvinStreams
import KelvinThermal
import Testing

@Suite("Plans carried over to another class of machine")
struct CarriedOverTests {
  @Test("seconds stay, joules go by the ratio of the envelopes' ranges, and both facts are said")
  func scaled() throws {
    let desktop = try ThermalEnvelope(named: "desktop")
    let phone = try ThermalEnvelope(named: "phone")
    let plan = StreamPlan.carriedOver(
      label: "cpu-only", secondsPerFrame: 0.02, joules: 1.07, source: "measured by RAPL package-0", from: desktop,
      to: phone)
    // (8 − 0.5) / (117 − 10) of 1.07 J
    #expect(abs(plan.joulesPerFrame - 0.075) < 1e-12)
    #expect(plan.secondsPerFrame == 0.02)
    #expect(plan.energySource == "measured by RAPL package-0; × 0.070 to \"phone\"")
  }

  @Test("an unknown energy is the whole range while it works, and says that it is assumed")
  func unknown() throws {
    let phone = try ThermalEnvelope(named: "phone")
    let plan = StreamPlan.carriedOver(
      label: "vulkan:0", secondsPerFrame: 0.02, joules: nil, source: "", from: phone, to: phone)
    #expect(abs(plan.joulesPerFrame - 0.15) < 1e-12)
    #expect(plan.energySource.hasPrefix("assumed"))
  }
}
