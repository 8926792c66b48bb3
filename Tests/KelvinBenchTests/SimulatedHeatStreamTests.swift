import FoundationEssentials
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinMeasurements
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal
import TestSupport
import Testing

@Suite("A real stream on simulated heat, in virtual time")
struct SimulatedHeatStreamTests {
  /// A stream on one device or two, whose heat is a phone's.
  private func bench(
    units: String, isGoverned: Bool, fps: Double = 30, hasLowPrecision: Bool = false, speed: Double = 60,
    files: SystemFiles = noFiles,
    keep: @escaping (Data) -> Void = { _ in }
  ) throws -> BenchmarkResult {
    let clock = VirtualClock()
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock, hasLowPrecision: hasLowPrecision) { _ in 6e-3 },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 3e-3 },
      ])
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, classes: 0)
    let workload = Workload(
      name: "test", kind: .stream, iterations: 12, warmSeconds: 0, framesPerSecond: fps, duration: 30,
      isGoverned: isGoverned)
    var options = BenchmarkOptions()
    options.simulatedHeat = (try ThermalEnvelope(named: "phone"), speed)
    options.keep = keep
    return try BenchmarkRunner(
      subject, workload,
      [BenchmarkConfiguration(label: units, request: PlanRequest(units: UnitsSelection(units) ?? .all, threads: 4))],
      options: options, kelvinVersion: "test", envelope: .desktop, clock: clock, files: files
    ).run()
  }

  private func hottest(_ result: BenchmarkResult) -> Double {
    result.configurations[0].sustained?.heat.map(\.headroom).max() ?? 0
  }

  @Test("the governed stream stays below the limit that the ungoverned one exceeds")
  func governed() throws {
    // At this speed a frame takes less than a second of the phone's time.
    let ungoverned = try bench(units: "cpu", isGoverned: false, speed: 20)
    #expect(hottest(ungoverned) > 1)
    #expect(ungoverned.configurations[0].sustained?.actions.isEmpty == true)
    #expect(ungoverned.verdict.text.contains("keeps up, half of the answers within"))
    #expect(ungoverned.verdict.text.contains("; heat critical since "), "\(ungoverned.verdict.text)")
    let governed = try bench(units: "cpu", isGoverned: true, speed: 20)
    let sustained = try #require(governed.configurations[0].sustained)
    #expect(hottest(governed) < 1, "\(sustained.actions.map { "\($0.at) \($0.text)" })")
    let left = try #require(sustained.actions.first { $0.setting.rate < 1 })
    #expect(
      governed.verdict.text.contains(" of 30.0 frames/s (")
        && governed.verdict.text.contains(" left out for heat since \(HumanReadable.seconds(left.at))"),
      "\(governed.verdict.text)")
    #expect(!sustained.actions.isEmpty)
    #expect(sustained.answers.reduce(0) { $0 + $1.frames } == sustained.served)
    for action in sustained.actions { #expect(action.at >= 0 && action.at <= sustained.duration) }
  }

  @Test("a single device can use fewer threads without dropping frames")
  func fewerThreads() throws {
    let processors = FixtureTree(["proc/cpuinfo": (0..<4).map { "processor\t: \($0)\n\n" }.joined()])
    let result = try bench(units: "cpu", isGoverned: true, files: processors.files)
    let sustained = try #require(result.configurations[0].sustained)
    #expect(sustained.ladder?.labels == ["as planned", "2 CPU threads", "1 CPU thread"])
    #expect(sustained.actions.first?.what == "plan '2 CPU threads' instead of 'as planned'")
    #expect(hottest(result) < 1)
    #expect(sustained.skipped == 0, "\(sustained.actions.map { "\($0.at) \($0.text)" }) \(hottest(result))")
    #expect(sustained.answers.contains { $0.label == "2 CPU threads" && $0.frames > 100 })
    let text = result.lines.joined(separator: "\n")
    #expect(text.contains("- 2 CPU threads, 100 % of the frames: saves 50 % of the energy"))
    #expect(text.contains("answered by as planned"))
  }

  @Test("a lower precision is a step of the ladder and states its error")
  func precision() throws {
    let labels = { (result: BenchmarkResult) in result.configurations[0].sustained?.ladder?.labels ?? [] }
    #expect(!labels(try bench(units: "cpu", isGoverned: true)).contains("precision low"))
    let ladder = try #require(
      try bench(units: "cpu", isGoverned: true, hasLowPrecision: true).configurations[0].sustained?.ladder)
    // The same speed in both: nothing is saved, so it is left out, as are threads that change nothing.
    #expect(!ladder.labels.contains("precision low"), "\(ladder.rungs)")
    #expect(ladder.labels.first == "as planned")
  }

  @Test("all output states that the heat is simulated")
  func said() throws {
    var journal = Data()
    let result = try bench(units: "cpu", isGoverned: true, keep: { journal += $0 })
    let heat = "simulated: the envelope \"phone\", 60.0 s of its heat in each second"
    #expect(result.lines.joined(separator: " ").contains("heat is simulated: the envelope \"phone\""))
    #expect(result.lines.contains("Governor, on simulated heat"))
    struct Document: Decodable { var simulatedHeat: SimulatedHeat.Setup? }
    let document = try JSONDecoder().decode(Document.self, from: try result.json())
    #expect(document.simulatedHeat == .init(envelope: "phone", speed: 60))
    #expect(result.report().workload.contains(heat))
    #expect(result.report().series.allSatisfy { $0.heatSource.hasPrefix(heat) })
    #expect(result.trace.counters.contains { $0.name == "simulated heat, cpu" })
    #expect(!result.trace.counters.contains { $0.name.hasPrefix("heat") })
    let again = BenchmarkResult(try BenchmarkJournal.read(journal))
    #expect(again.simulatedHeat == result.simulatedHeat)
    #expect(try again.json() == result.json())
  }

  @Test("the goal is stated only if the limit can be reached")
  func goal() throws {
    let hot = try bench(units: "cpu,gpu:0", isGoverned: false, fps: 60)
    #expect(hot.notes.contains { $0.contains("is at its limit after") }, "\(hot.notes)")
    let cool = try bench(units: "cpu,gpu:0", isGoverned: false, fps: 10)
    #expect(!cool.notes.contains { $0.contains("is at its limit after") })
  }

  @Test("heat is simulated only for streams and at a sustainable speed")
  func refused() {
    #expect(throws: BenchmarkError.self) { try bench(units: "cpu", isGoverned: false, speed: 1e4) }
  }
}
