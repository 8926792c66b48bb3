import KelvinBasics
package import KelvinPlanning

extension PlanExplanation {
  /// Returns the time of each single device, the fastest first: `cpu 213 ms (tried here: 220 ms)`, `vulkan:0 794 ms
  /// (not tried)`.
  ///
  /// - Parameter measured: returns the measured seconds of a plan that was run on this machine; nil for a plan for
  ///   another machine.
  package func alone(_ measured: ((PlanSolution) -> Double?)?) -> [String] {
    singleDevices.sorted { $0.solution.objective < $1.solution.objective }.map { single in
      let told = "\(single.device) \(HumanReadable.seconds(single.solution.objective))"
      guard let measured else { return told }
      return told + (measured(single.solution).map { " (tried here: \(HumanReadable.seconds($0)))" } ?? " (not tried)")
    }
  }
}
