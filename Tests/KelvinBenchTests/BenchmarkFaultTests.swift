import FoundationEssentials
import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinThermal
import Synchronization
import TestSupport
import Testing

/// Benchmarks when devices, processes or the user give up.
struct BenchmarkFaultTests {
  private let clock = VirtualClock()

  private func context(_ gpu: @escaping @Sendable (Node) -> Double) throws -> ModelContext {
    try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock, seconds: gpu),
      ])
  }

  private func bench(
    _ context: ModelContext, _ workload: Workload, units: [String] = ["cpu", "gpu:0"],
    starter: (any BenchmarkStarter)? = nil, cancellation: Cancellation? = nil,
    observe: @escaping MeasurementObserver = { _ in }
  ) throws -> BenchmarkResult {
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, classes: 0, loadSeconds: 0.002,
      starter: starter)
    var options = BenchmarkOptions()
    options.cancellation = cancellation
    let configurations = units.map {
      BenchmarkConfiguration(label: $0, request: PlanRequest(units: UnitsSelection($0) ?? .all))
    }
    return try BenchmarkRunner(
      subject, workload, configurations, options: options, kelvinVersion: "test", envelope: .server, clock: clock,
      files: noFiles
    ).run(observe)
  }

  private let oneShot = Workload(name: "test", kind: .oneShot, iterations: 24, rounds: 12, warmSeconds: 0)
  private let stream = Workload(
    name: "test", kind: .stream, iterations: 12, warmSeconds: 0, framesPerSecond: 20, duration: 6)

  private final class Starts: BenchmarkStarter {
    var made: [(label: String, isCold: Bool)] = []
    let failing: String?

    init(failing: String? = nil) { self.failing = failing }

    func start(
      _ configuration: BenchmarkConfiguration, plan: Plan, threads: Int, isCold: Bool
    ) throws -> ConfigurationResult.Start {
      if configuration.label == failing { throw BenchmarkError.startFailed("it crashed: Segmentation fault") }
      made.append((configuration.label, isCold))
      let compile = isCold ? 2.0 : 0.1
      return .init(launch: 0.01, load: 0.02, compile: compile, first: 0.03, total: compile + 0.07)
    }
  }

  @Test func coldStartsComeFirst() throws {
    let starts = Starts()
    let result = try bench(try context { _ in 1e-3 }, oneShot, starter: starts)
    #expect(starts.made.prefix(4).allSatisfy { $0.isCold })
    #expect(starts.made.count { $0.isCold } == 2 * oneShot.coldStarts)
    #expect(starts.made.count { !$0.isCold } == 2 * oneShot.starts)
    let cpu = result.configurations[0]
    #expect(cpu.coldTotal == 2.07 && cpu.compileUncached == 2)
    #expect(abs((cpu.total ?? 0) - 0.17) < 1e-12 && cpu.launch == 0.01)
    #expect(result.notes.contains { $0.contains("each start was a process of its own") })
    let within = try bench(try context { _ in 1e-3 }, oneShot)
    #expect(within.notes.contains { $0.contains("starts were made within this process") })
  }

  @Test func crashFailsOnlyItsConfiguration() throws {
    let result = try bench(try context { _ in 1e-3 }, oneShot, starter: Starts(failing: "gpu:0"))
    #expect(result.configurations[1].failure?.contains("Segmentation fault") == true)
    #expect(result.configurations[0].failure == nil)
    #expect(result.configurations[0].warm?.count == 24)
    #expect(result.comparisons[1].contains("failed"))
    #expect(result.verdict.best == 0)
    #expect(result.lines.contains { $0.contains("gpu:0 failed") })
    _ = try result.json()
  }

  /// Answers this number of inferences, and is lost then.
  private func losing(after count: Int) throws -> ModelContext {
    let left = Atomic(count)
    return try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice(
          "gpu:0", kind: .discreteGPU, clock: clock,
          fails: { left.subtract(1, ordering: .relaxed).newValue < 0 }
        ) { _ in 1e-3 },
      ])
  }

  @Test(arguments: [0, 5, 60, 160]) func lostDeviceFailsOnlyItsConfiguration(after: Int) throws {
    let result = try bench(try losing(after: after), stream)
    let (cpu, gpu) = (result.configurations[0], result.configurations[1])
    #expect(gpu.failure?.contains("the card is gone") == true)
    #expect(cpu.failure == nil)
    #expect(cpu.sustained?.served == 120)
    #expect(result.verdict.best == 0)
    #expect(Set(result.bestPlan.placement.values) == ["cpu"])
    // Earlier results are kept.
    #expect((gpu.sustained != nil) == (after > 5))
    _ = HTMLReport.render(result.report())
    #expect(result.csv().contains("cpu,sustained,119,"))
  }

  @Test func noReportIsMadeWhenEveryConfigurationFails() throws {
    let context = try losing(after: 5)
    #expect(throws: RuntimeError.self) { try bench(context, stream, units: ["gpu:0"]) }
  }

  @Test(arguments: ["cold starts", "starts", "warm inferences", "stream", "comparison with the reference device"])
  func cancellationKeepsFinishedMeasurements(during phase: String) throws {
    let cancellation = Cancellation()
    // The third progress report of cold starts comes after the first start.
    var left = phase == "cold starts" ? 3 : 1
    let result = try bench(
      try context { _ in 1e-3 }, stream, cancellation: cancellation,
      observe: { progress in
        if progress.phase == phase { left -= 1 }
        if left == 0 { cancellation.cancel() }
      })
    #expect(result.interruption == "interrupted during the \(phase)")
    #expect(result.verdict.text.hasPrefix("Partial: interrupted during the \(phase)"))
    #expect(
      (result.configurations[0].warm != nil) == ["stream", "comparison with the reference device"].contains(phase))
    let text = result.lines.joined(separator: "\n")
    #expect(text.contains("Partial"))
    #expect(result.lines.filter { $0.count > 80 } == [])
    struct Document: Decodable {
      var partial: Bool
      var interruption: String
    }
    #expect(try JSONDecoder().decode(Document.self, from: try result.json()).partial)
    #expect(HTMLReport.render(result.report()).contains("interrupted during the \(phase)"))
  }

  @Test func cancellationBeforeMeasuringIsAnError() throws {
    let cancellation = Cancellation()
    cancellation.cancel()
    let context = try context { _ in 1e-3 }
    #expect(throws: RuntimeError.self) { try bench(context, stream, cancellation: cancellation) }
  }

  @Test func everySampleIsInTheTable() throws {
    let result = try bench(try context { _ in 1e-3 }, stream, units: ["cpu", "gpu:0"])
    let lines = result.csv().split(separator: "\n")
    #expect(lines[0] == "configuration,phase,index,round,seconds,at,disturbed,thermal")
    let cpu = lines.filter { $0.hasPrefix("cpu,") }
    #expect(cpu.count { $0.hasPrefix("cpu,cold start,") } == stream.coldStarts)
    #expect(cpu.count { $0.hasPrefix("cpu,start,") } == stream.starts)
    #expect(cpu.count { $0.hasPrefix("cpu,warm,") } == 12)
    #expect(cpu.count { $0.hasPrefix("cpu,sustained,") } == 120)
    #expect(lines.dropFirst().allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == 8 })
    let seconds = cpu.filter { $0.hasPrefix("cpu,warm,") }.compactMap { Double($0.split(separator: ",")[4]) }
    #expect(seconds.count == 12 && seconds.allSatisfy { abs($0 - 3e-3) < 1e-9 })
    let quoted = try bench(try context { _ in 1e-3 }, oneShot, units: ["cpu,gpu:0"])
    #expect(quoted.csv().contains("\n\"cpu,gpu:0\",warm,"))
  }

  @Test func clockJumpOnlyDropsFrames() throws {
    let calls = Atomic(0)
    let context = try context { _ in 1e-3 }
    let result = try bench(
      context, stream, units: ["cpu"],
      observe: { progress in
        if progress.phase == "stream", calls.add(1, ordering: .relaxed).newValue == 3 { clock.advance(by: 3600) }
      })
    let sustained = try #require(result.configurations[0].sustained)
    #expect(sustained.served + sustained.dropped == 120)
    #expect(sustained.latency.p50 < 0.01)
  }
}
