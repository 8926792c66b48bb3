import KelvinMeasurements
import KelvinThermal
import TestSupport
import Testing

@Suite("Heat in traces")
struct TraceHeatTests {
  @Test("a thermal report becomes counters, degrees only when measured")
  func thermalCounters() {
    var recording = Trace()
    recording.record(
      FixtureTree.reading(Machines.cloudGuest) { files in
        var monitor = ThermalMonitor(files: files, envelope: ThermalEnvelopeTests.fixed)
        return monitor.sample(at: 0)
      })
    #expect(recording.counters.map(\.name) == ["heat (model)", "thermal state"])
    #expect(recording.counters[0].values.keys.sorted() == ["headroom"])
  }
}
