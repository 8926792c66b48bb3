import KelvinBench
import KelvinDevices
import KelvinRuntime
import KelvinThermal
import TestSupport

/// A stream of six seconds, 20 frames a second, on a CPU that keeps up and a card that does not.
func twoDeviceStream(
  _ clock: VirtualClock, options: BenchmarkOptions = BenchmarkOptions()
) throws -> BenchmarkRunner {
  let context = try chain(
    clock,
    devices: [
      TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 5e-3 },
      TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 40e-3 },
    ])
  let subject = BenchmarkSubject(
    context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, classes: 0, loadSeconds: 0.002)
  let workload = Workload(
    name: "test", kind: .stream, iterations: 12, warmSeconds: 0, framesPerSecond: 20, duration: 6)
  let configurations = ["cpu", "gpu:0"].map {
    BenchmarkConfiguration(label: $0, request: PlanRequest(units: UnitsSelection($0) ?? .all))
  }
  return try BenchmarkRunner(
    subject, workload, configurations, options: options, kelvinVersion: "test", envelope: .server, clock: clock,
    files: noFiles)
}
