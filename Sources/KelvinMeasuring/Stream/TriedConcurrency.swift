import KelvinStreams
import KelvinThermal
import Synchronization

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
