import Kelvin
import KelvinVision
import Synchronization

/// A cache of comparisons, which are slow to compute because they resample the examples many times.
final class ComparisonCache: Sendable {
  private let made = Mutex<[[Int]: EvaluationComparison]>([:])

  func comparison(_ contender: Int, _ other: Int, _ make: () -> EvaluationComparison) -> EvaluationComparison {
    if let known = made.withLock({ $0[[contender, other]] }) { return known }
    let comparison = make()
    made.withLock { $0[[contender, other]] = comparison }
    return comparison
  }
}
