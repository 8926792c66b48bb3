package import KelvinGraph

extension Function {
  /// The number that means to the model that an input has none: what an imputer behind it replaces, or what the trees
  /// behind it have a way for. Nil where the model has no rule of its own.
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
