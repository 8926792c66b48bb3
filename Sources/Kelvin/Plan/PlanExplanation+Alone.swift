import KelvinBasics
import KelvinPlanning

extension PlanExplanation {
  /// What each device alone takes, the fastest first: `cpu 213 ms (tried here: 220 ms)`, `vulkan:0 794 ms (not tried)`.
  ///
  /// - Parameter measured: seconds that a plan took where it was tried on this machine; nil for another machine, where
  ///   nothing can have been tried.
  func alone(_ measured: ((PlanSolution) -> Double?)?) -> [String] {
    singleDevices.sorted { $0.solution.objective < $1.solution.objective }.map { single in
      let told = "\(single.device) \(HumanReadable.seconds(single.solution.objective))"
      guard let measured else { return told }
      return told + (measured(single.solution).map { " (tried here: \(HumanReadable.seconds($0)))" } ?? " (not tried)")
    }
  }
}
