import KelvinBasics
import KelvinMeasurements
import KelvinProfiler
import Testing

struct AccountTests {
  private func event(_ kind: TraceEvent.Kind, _ device: String, _ start: Double, _ duration: Double) -> TraceEvent {
    TraceEvent(name: "e", kind: kind, device: device, start: start, duration: duration)
  }

  @Test func accountPartsAddUpToTheTotal() {
    let events = [
      event(.node, "cpu", 0, 2), event(.transfer, "gpu", 2, 1), event(.node, "gpu", 3, 4),
      event(.transfer, "cpu", 7, 2),
    ]
    let account = Account(events, endToEnd: 10, copying: 2.5)
    #expect(account.layers == 6)
    #expect(account.transfers == 2.5)
    #expect(account.waits == 0.5)
    #expect(account.residual == 1)
  }

  @Test func unplacedNodeTimeReducesTheWaits() {
    // The device reports 5 s of nodes, the host saw 1 s of submitting and 6 s of waiting for the output.
    let events = [event(.node, "gpu", 0, 5), event(.transfer, "cpu", 1, 6)]
    let account = Account(events, endToEnd: 7, copying: 0)
    #expect(account.layers == 5)
    #expect(account.waits == 2)
    #expect(account.residual == 0)
  }

  @Test func everyAccountAddsUp() {
    var random = SeededGenerator(seed: 20)
    for _ in 0..<500 {
      let events = (0..<8).map { index in
        event(
          index.isMultiple(of: 3) ? .transfer : .node, index.isMultiple(of: 2) ? "cpu" : "gpu", random.unit() * 9,
          random.unit() * 4)
      }
      let account = Account(events, endToEnd: 10, copying: random.unit() * 3)
      let sum = account.layers + account.transfers + account.waits + account.residual
      #expect(abs(sum - account.endToEnd) < 1e-9)
      #expect(min(account.layers, account.transfers, account.waits) >= 0)
      #expect(account.residual > -1e-9)
    }
  }

  @Test func aFitFindsLatencyAndBandwidth() {
    let points = [4 << 10, 64 << 10, 1 << 20, 16 << 20].map {
      TransferFit.Point(bytes: $0, seconds: 2e-5 + Double($0) / 8e9)
    }
    let fit = TransferFit(points)
    #expect(abs(fit.latency - 2e-5) < 1e-9)
    #expect(abs(fit.bytesPerSecond / 8e9 - 1) < 1e-6)
    #expect(fit.largestError < 1e-6)
  }

  @Test func aFitIsNeverNegativeAndNeverInfinite() {
    let falling = TransferFit([.init(bytes: 1000, seconds: 2e-5), .init(bytes: 1_000_000, seconds: 1e-5)])
    #expect(falling.latency > 0)
    #expect(falling.bytesPerSecond == TransferFit.unlimited)
    let steep = TransferFit([.init(bytes: 1000, seconds: 1e-9), .init(bytes: 1_000_000, seconds: 1e-3)])
    #expect(steep.latency >= 0)
    #expect(steep.bytesPerSecond > 0 && steep.bytesPerSecond.isFinite)
    #expect(TransferFit([]).latency == 0)
    #expect(TransferFit([.init(bytes: 10, seconds: .nan)]).bytesPerSecond.isFinite)
  }
}
