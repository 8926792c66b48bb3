import KelvinBasics
package import KelvinPlanning

extension PlanExplanation {
  /// Returns the predicted time of each single device, the fastest first: `cpu 213 ms ± 3.0 % (tried here: 220 ms)`,
  /// `vulkan:0 794 ms ± unknown (not tried)`. For other goals than `latency`, the words tell the objective from the
  /// time of one inference, which is what was tried.
  ///
  /// - Parameters:
  ///   - mark: returns how far the predicted time of a plan may be off.
  ///   - measured: returns the measured seconds of a plan that was run on this machine; nil for a plan for another
  ///     machine.
  package func alone(
    goal: Goal, mark: (PlanSolution) -> String, _ measured: ((PlanSolution) -> Double?)?
  ) -> [String] {
    singleDevices.sorted { $0.solution.objective < $1.solution.objective }.map { single in
      let (solution, seconds) = (single.solution, HumanReadable.seconds)
      let inference = "\(seconds(solution.predicted)) \(mark(solution))"
      let told =
        switch goal {
        case .latency: "\(single.device) \(inference)"
        case .oneShot: "\(single.device) \(seconds(solution.objective)) in all, one inference \(inference)"
        case .throughput, .sustained: "\(single.device) \(seconds(solution.objective)) for each frame \(mark(solution))"
        }
      guard let measured else { return told }
      let what = goal == .latency ? "tried here:" : "one inference tried here:"
      return told + (measured(solution).map { " (\(what) \(seconds($0)))" } ?? " (not tried)")
    }
  }
}
