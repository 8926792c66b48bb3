import KelvinStreams
import KelvinThermal

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

/// The changes and their measured effects after an answer.
struct StreamEvents {
  var actions: [GovernorAction] = []
  var effects: [(action: GovernorAction, effect: StepEffect)] = []
}
