package import KelvinGraph

extension Function {
  /// Returns the number that stands for a missing value of an input: the number that an imputation replaces, or
  /// not-a-number if trees define a branch for missing values. Nil if the model has no such rule.
  package func missingNumber(of input: String) -> Double? {
    var slots = [input]
    var seen: Set<String> = []
    while let slot = slots.popLast() {
      guard seen.insert(slot).inserted else { continue }
      for step in hostOperations where step.inputs.contains(slot) {
        switch step {
        case let step as RowOperation<Imputation>: return step.function.replaced
        case let step as RowOperation<TreeScores> where step.function.ensemble.hasWaysForMissing: return .nan
        case is RowOperation<Joining>, is ValuePass: slots += step.outputs
        default: break
        }
      }
    }
    return nil
  }
}
