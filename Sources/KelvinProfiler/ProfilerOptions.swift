/// How carefully to measure.
package struct ProfilerOptions: Sendable {
  /// Seconds of measuring nodes for each device; compiling, first runs, links and checking come on top.
  package var budget = 10.0
  /// Relative uncertainty of a node's median that is good enough: 0.05 is ± 5 %.
  package var bound = 0.05
  /// Rounds that are made however long they take.
  package var fewestRounds = 5
  package var mostRounds = 2000
  package var warmUps = 2
  /// Part of the budget that is spent on running predicted plans, and again on pairs of devices.
  package var checkShare = 0.25
  /// Whether compilation and first run are measured beside other work too.
  package var measuresBusyStarts = true
  /// Seconds that reading the model took, for the record.
  package var loadSeconds = 0.0

  package init() {}
}
