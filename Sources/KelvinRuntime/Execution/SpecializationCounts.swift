/// Counts of the work for new input sizes since a model was loaded.
package struct SpecializationCounts: Sendable, Hashable, Codable {
  /// The number of searches for a plan.
  package var plans: Int
  /// The number of times a graph was built for its sizes and compiled.
  package var compilations: Int

  package init(plans: Int = 0, compilations: Int = 0) {
    self.plans = plans
    self.compilations = compilations
  }

  package static func + (left: SpecializationCounts, right: SpecializationCounts) -> SpecializationCounts {
    SpecializationCounts(plans: left.plans + right.plans, compilations: left.compilations + right.compilations)
  }

  /// Returns the difference between two snapshots.
  package static func - (left: SpecializationCounts, right: SpecializationCounts) -> SpecializationCounts {
    SpecializationCounts(plans: left.plans - right.plans, compilations: left.compilations - right.compilations)
  }
}
