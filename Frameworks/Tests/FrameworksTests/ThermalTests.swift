import CoreML
import Foundation
import KelvinMeasuring
import Testing

/// `ProcessInfo.thermalState` and its notification.
@Suite(.serialized) struct ThermalTests {
  @Test(.timeLimit(.minutes(1))) func changesArePosted() async {
    let (states, source) = AsyncStream.makeStream(of: KelvinMeasuring.ThermalState.self)
    let (notes, note) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: ProcessInfo.thermalStateDidChangeNotification, object: nil, queue: nil
    ) { _ in note.yield() }
    defer { NotificationCenter.default.removeObserver(observer) }
    let watch = ThermalWatch(states)
    #expect(watch.state == .nominal)
    source.yield(.nominal)
    source.yield(.serious)
    for await _ in notes where watch.state == .serious { break }
    source.yield(.fair)
    for await _ in notes where watch.state == .fair { break }
    #expect(watch.state == .fair)
  }

  @Test func rawValuesAreFoundations() {
    #expect(ProcessInfo.ThermalState.critical.rawValue == 3)
    #expect((0...3).contains(ProcessInfo.processInfo.thermalState.rawValue))
  }
}
