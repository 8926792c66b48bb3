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

  /// What was announced, and when.
  private final class Log {
    var announced: [(at: Double, left: Double, fraction: Double)] = []
  }

  private func run(_ workload: Workload, cpu: Double, gpu: Double) throws -> (log: Log, end: Double) {
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in cpu },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in gpu },
      ])
    let subject = BenchmarkSubject(context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true)
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

  @Test("what was expected of a phase gives way to what is seen of it, and later phases are added")
  func gradually() {
    var estimate = RunEstimate(at: 0)
    estimate.expect(.warm, 10)
    estimate.expect(.sustained, 60)
    #expect(estimate.outlook(0, at: 0).left == 70)
    estimate.begin(.warm, at: 5)
    #expect(estimate.outlook(0, at: 5).left == 70)
    // Half is over after 15 s: 15 more, whatever was expected.
    #expect(estimate.outlook(0.5, at: 20).left == 75)
    #expect(abs(estimate.outlook(0.5, at: 20).fraction - 20.0 / 95) < 1e-12)
    estimate.extend(to: 2)
    #expect(estimate.outlook(1, at: 35).left == 90, "twice the rounds: 30 s for half of them, 30 more, and the stream")
    estimate.begin(.sustained, at: 65)
    #expect(estimate.outlook(0.2, left: 44, at: 81).left == 44)
    estimate.expect(.agreement, .infinity)
    #expect(estimate.outlook(0.2, left: 44, at: 81).left == 44)
  }
}
