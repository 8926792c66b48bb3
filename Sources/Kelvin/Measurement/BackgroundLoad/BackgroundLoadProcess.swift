#if Measuring
package import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinBench
import KelvinEngine
package import KelvinFeatures
import KelvinMeasurements
package import KelvinProfiler

/// Somebody else at work in a process of its own, so that nothing of it is booked to the one that measures.
package final class BackgroundLoadProcess: BackgroundLoad {
  private let load: CoLoad
  private let launcher: any StartLauncher
  private var connection: (any BackgroundLoadConnection)?
  package private(set) var account: BackgroundLoadUsage?

  init(_ load: CoLoad, _ launcher: any StartLauncher) {
    self.load = load
    self.launcher = launcher
  }

  deinit { stop() }

  package let ownProcessorSeconds = 0.0
  package var processes: [Int32] { connection.map { [$0.process] } ?? [] }

  package func start() throws {
    guard connection == nil else { return }
    do throws(StartFailure) {
      connection = try launcher.launchBackgroundLoad(load.items.map { "\($0.name)=\($0.text)" })
    } catch {
      throw BenchmarkError.startFailed("the load beside the model: \(error.description)")
    }
  }

  package func stop() {
    guard let connection else { return }
    self.connection = nil
    do throws(StartFailure) {
      let answer = try connection.finish()
      account = try? JSONText.decode(BackgroundLoadUsage.self, from: Data(answer))
    } catch {
      account = BackgroundLoadUsage(
        isProcess: true, seconds: 0, userSeconds: 0, kernelSeconds: 0, memoryBytes: 0,
        failure: "it ended early: \(error.description)")
    }
  }

  package func pause() { connection?.send(.rest) }
  package func resume() { connection?.send(.work) }

  /// What the process itself does: works until it is told to stop.
  ///
  /// - Parameters:
  ///   - items: as `CoLoad` spells them.
  ///   - ready: called when the work goes on.
  ///   - signal: waits for what it is told next; nil when it is to end.
  /// - Returns: what it did, as `stop` reads it.
  /// - Throws: `ModelError` where an item means nothing, or names a device that is not there.
  package static func serve(_ items: [String], ready: () -> Void, signal: () -> BackgroundLoadSignal?) throws(ModelError)
    -> Data
  {
    var load = CoLoad()
    for item in items {
      let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, load.set(parts[0], to: parts[1]) == nil else {
        throw ModelError(.parameters, "'\(item)' is no load", fault: .request)
      }
    }
    return try ModelError.wrapping {
      let cores = max(1, MachineDescription(SystemFiles()).logicalCores)
      let work = try SyntheticLoad(load, deviceInventory, processors: cores)
      work.start()
      ready()
      while let told = signal() {
        switch told {
        case .rest: work.pause()
        case .work: work.resume()
        }
      }
      work.resume()
      work.stop()
      return try JSONText.encode(work.account?.ofWholeProcess)
    }
  }
}
#endif
