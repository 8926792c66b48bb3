import Kelvin
import KelvinStreams
import KelvinThermal
import Synchronization

/// The choice of a stream's setting by its answers, for one stream or for streams that share a model.
protocol StreamControl: AnyObject, Sendable {
  /// Whether the control reads heat.
  var isGovernor: Bool { get }
  /// The present setting.
  var setting: GovernorSetting { get }
  /// The latest report of heat; nil if none is read.
  var latestReport: ThermalReport? { get }
  /// The seconds of simulated heat in each second of the stream; nil without simulated heat.
  var heatSpeed: Double? { get }

  /// Counts a stream.
  func begin()

  /// Takes an answer.
  ///
  /// - Parameters:
  ///   - arrival: the frame's arrival, in seconds on the stream's clock.
  ///   - start: the beginning of the prediction.
  ///   - end: its end.
  ///   - plan: the plan that ran.
  func answered(from arrival: Double, _ start: Double, to end: Double, plan: Int) -> StreamEvents

  /// Ends a stream.
  ///
  /// - Returns: the effect that was still being measured, with the last stream.
  func end(at now: Double) -> StreamEvents
}

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

/// The changes and their measured effects after an answer.
struct StreamEvents {
  var actions: [GovernorAction] = []
  var effects: [(action: GovernorAction, effect: StepEffect)] = []
}

/// A trial of how many frames are answered at the same time.
final class TriedConcurrency: StreamControl {
  private let trial: Mutex<ConcurrencyTrial>

  init(_ trial: ConcurrencyTrial) { self.trial = Mutex(trial) }

  var setting: GovernorSetting { trial.withLock { $0.setting } }
  var isGovernor: Bool { false }
  var latestReport: ThermalReport? { nil }
  var heatSpeed: Double? { nil }

  func begin() {}
  func end(at now: Double) -> StreamEvents { StreamEvents() }

  func answered(from arrival: Double, _ start: Double, to end: Double, plan: Int) -> StreamEvents {
    StreamEvents(actions: trial.withLock { $0.answered(at: end, plan: plan) }.map { [$0] } ?? [])
  }
}
