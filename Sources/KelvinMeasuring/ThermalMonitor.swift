import Dispatch
public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinEngine
public import KelvinFeatures
import KelvinMeasurements
import KelvinThermal
import Synchronization

/// Monitors the machine's heat with the best available source and names that source: temperature sensors with their
/// limits, energy counters, throttle counters, or a model driven by utilization.
///
/// The thermal model always runs too. It has two poles: headroom h = Σ hᵢ with dhᵢ/dt = (wᵢ·p − hᵢ)/τᵢ. Here p is power
/// over the sustainable power; the weights wᵢ and time constants τᵢ belong to the machine's class
/// (`Profiles/thermal/`). The model provides forecasts, and measurements correct its state. Temperatures are reported
/// only if a sensor measures them.
///
/// ```swift
/// for await reading in ThermalMonitor().readings(every: .seconds(1)) where reading.state >= .fair {
///   print("\(reading.state), limit in \(reading.timeToLimit ?? .infinity) s, by \(reading.source)")
/// }
/// ```
public final class ThermalMonitor: Sendable {
  private let monitor: Mutex<KelvinThermal.ThermalMonitor>
  private let began = ContinuousClock.now

  /// The names of the machine classes that Kelvin knows, ordered by sustained power.
  public static var envelopes: [String] { ThermalEnvelope.shipped.map(\.name) }

  /// - Parameters:
  ///   - envelope: the class of machine, one of `envelopes` or the path of an envelope file; nil to assume a server for
  ///     a virtual machine and a desktop for any other.
  ///   - root: the folder that contains `sys` and `proc`.
  /// - Throws: `ModelError` with code `io` if there is no such envelope, or its file cannot be read.
  public init(envelope: String? = nil, root: URL = URL(filePath: "/")) throws(ModelError) {
    let files = SystemFiles(root: root.path)
    let chosen = try ModelError.wrapping {
      try envelope.map { try ThermalEnvelope(named: $0) } ?? .assumed(for: MachineDescription(files))
    }
    monitor = Mutex(KelvinThermal.ThermalMonitor(files: files, envelope: chosen))
  }

  /// Takes a reading now. Power, utilization and contention are means over the time since the previous reading, so the
  /// first reading does not have them.
  public func reading() async -> ThermalReading {
    await withCheckedContinuation { continuation in
      BlockingWork.start { continuation.resume(returning: self.sample()) }
    }
  }

  /// Takes readings repeatedly, until the loop over them ends or the task is cancelled.
  ///
  /// - Parameter interval: the time between readings; at least a tenth of a second.
  public func readings(every interval: Duration = .seconds(1)) -> AsyncStream<ThermalReading> {
    let interval = max(interval, .milliseconds(100))
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        while !Task.isCancelled {
          continuation.yield(await self.reading())
          do { try await Task.sleep(for: interval) } catch { break }
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// Returns the states as they change, beginning with the present one.
  ///
  /// - Parameter interval: the time between readings; at least a tenth of a second.
  public func states(every interval: Duration = .seconds(1)) -> AsyncStream<ThermalState> {
    let readings = readings(every: interval)
    return AsyncStream { continuation in
      let task = Task {
        var last: ThermalState?
        for await reading in readings where reading.state != last {
          last = reading.state
          continuation.yield(reading.state)
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// The state at the latest reading; nominal before the first.
  public var thermalState: ThermalState { monitor.withLock { ThermalState($0.state) } }

  /// Returns the headroom after some time if the load of the latest reading continues: the model's solution, hᵢ(t) =
  /// wᵢ·p + (hᵢ(0) − wᵢ·p)·e^(−t/τᵢ).
  public func forecast(after time: Duration) -> Double { monitor.withLock { $0.forecast(after: time.inSeconds) } }

  private func sample() -> ThermalReading {
    let elapsed = began.duration(to: .now).components
    let now = Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
    return monitor.withLock { ThermalReading($0.sample(at: now)) }
  }
}
