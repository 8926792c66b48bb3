import KelvinDevices
import KelvinMeasurements
import KelvinProfiler
import KelvinRuntime
import TestSupport
import Testing

/// A card whose segments copy their values in their own submissions.
@Suite struct RecordedCopyTests {
  @Test func copyIsMeasuredInTheSubmissionOfASegment() throws {
    let clock = VirtualClock()
    let (latency, rate) = (1e-2, 1e9)
    let devices: [any Device] = [
      TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-4 },
      TimedDevice(
        "gpu:0", kind: .discreteGPU, clock: clock, overhead: 1e-4,
        copies: .init(latency: latency, bytesPerSecond: rate)
      ) { _ in 1e-5 },
    ]
    var options = ProfilerOptions()
    options.budget = 0.5
    let context = try chain(clock, devices: devices)
    let profile = try NodeProfiler(
      context, PlanRequest(units: .devices(["cpu", "gpu:0"])), inputs: chainInputs, options: options,
      kelvinVersion: "test", clock: clock, files: noFiles
    ).run().profile
    for (from, to) in [("cpu", "gpu:0"), ("gpu:0", "cpu")] {
      let link = try #require(profile.transfer(from: from, to: to))
      // A submission for the copy alone would take `latency`. Hand-over to the card remains.
      #expect(link.latency < latency / 10, "\(from) to \(to)")
      #expect(abs(link.bytesPerSecond / rate - 1) < 0.05, "\(from) to \(to)")
    }
  }
}
