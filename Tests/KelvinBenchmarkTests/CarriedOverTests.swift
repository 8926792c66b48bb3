import KelvinBenchmark
import KelvinProfiling
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

@Suite("Envelopes by name")
struct EnvelopeNameTests {
  @Test("every shipped envelope is found by its name, wherever the binary lies, and equals its file")
  func shipped() throws {
    let files = SystemFiles(root: StreamSimulationTests.root)
    let names = files.names(in: "Profiles/thermal").map { String($0.dropLast(".json".count)) }
    #expect(Set(ThermalEnvelope.shipped.map(\.name)) == Set(names))
    for name in names {
      let path = "\(StreamSimulationTests.root)/Profiles/thermal/\(name).json"
      #expect(try ThermalEnvelope(named: name) == ThermalEnvelope(named: path))
    }
  }

  @Test("an unknown name lists the known ones; a file that is not there says so")
  func unknown() throws {
    let error = #expect(throws: ProfilingError.self) { try ThermalEnvelope(named: "watch") }
    #expect(error?.description.contains("phone, fanless-laptop, laptop, desktop, server") == true)
    let absent = #expect(throws: ProfilingError.self) { try ThermalEnvelope(named: "/nowhere/at/all.json") }
    #expect(absent?.description == "/nowhere/at/all.json: cannot be read: No such file or directory")
  }
}
