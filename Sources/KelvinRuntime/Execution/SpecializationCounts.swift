/// What sizes other than the usual ones have cost since a model was loaded.
package struct SpecializationCounts: Sendable, Hashable, Codable {
  /// How often a plan was searched for.
  package var plans: Int
  /// How often a graph was built for its sizes and compiled.
  package var compilations: Int

  package init(plans: Int = 0, compilations: Int = 0) {
    self.plans = plans
    self.compilations = compilations
  }

  package static func + (left: SpecializationCounts, right: SpecializationCounts) -> SpecializationCounts {
    SpecializationCounts(plans: left.plans + right.plans, compilations: left.compilations + right.compilations)
  }

  /// What was added since an earlier look.
  package static func - (left: SpecializationCounts, right: SpecializationCounts) -> SpecializationCounts {
    SpecializationCounts(plans: left.plans - right.plans, compilations: left.compilations - right.compilations)
  }
}
