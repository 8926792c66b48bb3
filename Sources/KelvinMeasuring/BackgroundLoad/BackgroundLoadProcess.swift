package import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinBench
import KelvinEngine
package import KelvinFeatures
import KelvinMeasurements
package import KelvinProfiler

/// A background load that runs in a separate process, so that its CPU time does not count as the measuring process's.
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
      throw BenchmarkError.startFailed("the background load:  \(error.description)")
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

  /// Runs the background load within the separate process until it is told to stop.
  ///
  /// - Parameters:
  ///   - items: the loads, in the syntax of `CoLoad`.
  ///   - ready: called when the load has begun.
  ///   - signal: waits for the next signal; returns nil when the load has to end.
  /// - Returns: the load's record, as `stop` decodes it.
  /// - Throws: `ModelError` for an invalid item or a device that does not exist.
  package static func serve(_ items: [String], ready: () -> Void, signal: () -> BackgroundLoadSignal?)
    throws(ModelError)
    -> Data
  {
    var load = CoLoad()
    for item in items {
      let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, load.set(parts[0], to: parts[1]) == nil else {
        throw ModelError(.parameters, "'\(item)' is not a load", fault: .request)
      }
    }
    return try ModelError.wrapping {
      let work = try SyntheticLoad(load, deviceInventory, processors: defaultThreadCount)
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
