import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinThermal
import TestSupport
import Testing

@Suite("Time left")
struct RunEstimateTests {
  private let clock = VirtualClock()

  /// The announcements and their times.
  private final class Log {
    var announced: [(at: Double, left: Double, fraction: Double)] = []
  }

  /// Processes on whose second device a driver compiles for long where nothing is cached.
  private struct SlowColdStarts: BenchmarkStarter {
    let clock: VirtualClock

    func start(_ configuration: BenchmarkConfiguration, plan: Plan, threads: Int, isCold: Bool) throws
      -> ConfigurationResult.Start
    {
      let compile = configuration.label == "cpu" ? 0.01 : isCold ? 6.3 : 0.1
      let start = ConfigurationResult.Start(launch: 0.05, load: 0.02, compile: compile, first: 0.01)
      clock.advance(by: start.total)
      return start
    }
  }

  private func run(
    _ workload: Workload, cpu: Double, gpu: Double, starter: (any BenchmarkStarter)? = nil
  ) throws -> (log: Log, end: Double) {
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in cpu },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in gpu },
      ])
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, starter: starter)
    var options = BenchmarkOptions()
    options.checksAgreement = false
    let log = Log()
    let runner = try BenchmarkRunner(
      subject, workload,
      ["cpu", "gpu:0"].map { .init(label: $0, request: PlanRequest(units: .devices([$0]))) }, options: options,
      kelvinVersion: "test", envelope: .server, clock: clock, files: noFiles)
    let began = clock.now()
    _ = try runner.run { [clock] progress in
      guard let left = progress.secondsLeft else { return }
      log.announced.append((clock.now() - began, left, progress.fraction))
    }
    return (log, clock.now() - began)
  }

  @Test(
    "at a quarter, half and three quarters of a run the time left is right within a third",
    arguments: [
      Workload(name: "starts", kind: .oneShot, coldStarts: 10, starts: 40, iterations: 20, warmSeconds: 0.1),
      Workload(name: "warm", kind: .oneShot, iterations: 400, warmSeconds: 10),
      Workload(name: "slow", kind: .oneShot, iterations: 4000, warmSeconds: 0),
      Workload(name: "stream", kind: .stream, coldStarts: 1, starts: 2, iterations: 24, warmSeconds: 2, duration: 6),
    ])
  func isRight(workload: Workload) throws {
    for (cpu, gpu) in [(1e-3, 4e-3), (2e-3, 2e-3)] {
      let (log, end) = try run(workload, cpu: cpu, gpu: gpu)
      for share in [0.25, 0.5, 0.75] {
        let said = try #require(log.announced.last { $0.at <= share * end })
        let left = end - said.at
        #expect(abs(said.left - left) <= left / 3, "\(workload.name) at \(share): \(said.left) s, really \(left) s")
      }
      let fractions = log.announced.map(\.fraction)
      #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 <= $1 }, "what is over does not come back")
    }
  }

  @Test(
    "no time is estimated while a driver may compile"
  )
  func saysNothing() throws {
    let workload = Workload(name: "starts", kind: .oneShot, starts: 8, iterations: 64, warmSeconds: 3)
    let (log, end) = try run(workload, cpu: 4e-3, gpu: 6e-3, starter: SlowColdStarts(clock: clock))
    let first = try #require(log.announced.first)
    #expect(
      first.at > 6.3 && first.at < 0.35 * end, "the first cold starts are over after 6.5 s; told at \(first.at) s")
    for said in log.announced where said.at < 0.9 * end {
      let left = end - said.at
      #expect(abs(said.left - left) <= left / 3, "at \(said.at) s: \(said.left) s, really \(left) s")
    }
  }

  @Test("an estimate that may be wrong by more than a third is not shown")
  func doubt() {
    var estimate = RunEstimate<BenchmarkPhase>(at: 0)
    estimate.expect(.coldStarts, EstimatedSeconds(2, doubt: .infinity))
    estimate.expect(.warm, EstimatedSeconds(30, doubt: 9))
    #expect(estimate.outlook(0, at: 0).left == nil)
    estimate.begin(.coldStarts, at: 0)
    #expect(estimate.outlook(0, at: 1).left == nil)
    #expect(estimate.outlook(0, left: EstimatedSeconds(6), at: 1).left == 36)
    estimate.begin(.warm, at: 8)
    #expect(estimate.outlook(0, at: 8).left == 30)
    #expect(estimate.outlook(0, at: 28).left == nil, "10 s, and 9 more or less")
    #expect(estimate.outlook(0.5, at: 23).left == 15, "half of it was seen")
    #expect(EstimatedSeconds(1, doubt: .infinity) * 0 == .zero)
  }

  @Test("observed times replace the expected ones, and later phases are added")
  func gradually() {
    var estimate = RunEstimate<BenchmarkPhase>(at: 0)
    estimate.expect(.warm, EstimatedSeconds(10))
    estimate.expect(.sustained, EstimatedSeconds(60))
    #expect(estimate.outlook(0, at: 0).left == 70)
    estimate.begin(.warm, at: 5)
    #expect(estimate.outlook(0, at: 5).left == 70)
    // Half of the work took 15 s, so 15 s remain, independent of the first estimate.
    #expect(estimate.outlook(0.5, at: 20).left == 75)
    #expect(abs(estimate.outlook(0.5, at: 20).fraction - 20.0 / 95) < 1e-12)
    estimate.extend(to: 2)
    #expect(estimate.outlook(1, at: 35).left == 90, "twice the rounds: 30 s for half of them, 30 more, and the stream")
    estimate.begin(.sustained, at: 65)
    #expect(estimate.outlook(0.2, left: EstimatedSeconds(44), at: 81).left == 44)
    estimate.expect(.agreement, EstimatedSeconds(.infinity))
    #expect(estimate.outlook(0.2, left: EstimatedSeconds(44), at: 81).left == 44)
  }
}
