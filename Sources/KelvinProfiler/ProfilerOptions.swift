/// The effort of a profile.
package struct ProfilerOptions: Sendable {
  /// Seconds of measuring nodes for each device; compilation, first runs, links and checks are additional. A device
  /// other than the host that cannot run twice in this time is left out.
  package var budget = 10.0
  /// The seconds that a device has at least.
  package static let leastBudget = 2.0
  /// The relative uncertainty of a node's median that is sufficient: 0.05 is ± 5 %.
  package var bound = 0.05
  /// The rounds that are made even after the budget of all devices is used, if a device's own budget allows them.
  package var fewestRounds = 5
  package var mostRounds = 2000
  package var warmUps = 2
  /// The share of the budget for running predicted plans, and again for pairs of devices.
  package var checkShare = 0.25
  /// Whether compilation and the first run are also measured while the machine is busy.
  package var measuresBusyStarts = true
  /// Seconds that reading the model took, for the profile.
  package var loadSeconds = 0.0

  package init() {}

  /// The seconds that one device may take for its rounds.
  var share: Double { max(budget, Self.leastBudget) }
}
