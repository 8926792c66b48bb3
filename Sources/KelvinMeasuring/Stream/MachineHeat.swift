import Kelvin
import KelvinStreams
import KelvinThermal
import Synchronization

/// The heat of the machine beside a stream without a governor, read about twice a second by its sensors.
final class MachineHeat: Sendable {
  private let envelope: ThermalEnvelope
  private let log = Mutex<HeatLog?>(nil)

  /// - Throws: `ModelError` for an unknown envelope.
  init(_ options: FrameStreamOptions) throws(ModelError) {
    envelope = try ModelError.measuring { try ThermalEnvelope(choosing: options.thermalEnvelope) }
  }

  /// - Returns: nil if no sensor answers.
  func report(at now: Double) -> ThermalReport? {
    let report = log.withLock { log in
      if var reading = log.take() {
        _ = reading.sample(at: now)
        log = reading
      } else {
        log = HeatLog(KelvinThermal.ThermalMonitor(envelope: envelope), at: now)
      }
      return log?.latest
    }
    return report?.source == .model ? nil : report
  }
}
