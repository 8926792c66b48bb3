/// A branch among a function's parts: sizes inside are known once a side is taken, so that each side is parts of its own.
///
/// A side has slots of its own besides those around the branch, which it may read.
package struct BranchPart: Sendable {
  /// One of the two ways to go on.
  package struct Side: Sendable {
    package let parts: [FunctionPart]
    /// Its slots whose values are the results of the branch, one for each.
    package let left: [String]

    package init(parts: [FunctionPart], left: [String]) {
      self.parts = parts
      self.left = left
    }
  }

  package let name: String
  /// The slot with one number, which says which side is taken: `otherwise` where it is 0.
  package let condition: String
  package let then: Side
  package let otherwise: Side
  /// The slots around the branch that it writes.
  package let outputs: [String]
  /// What the sides read of the slots around the branch.
  package let captured: [String]

  package init(
    name: String, condition: String, then: Side, otherwise: Side, outputs: [String], captured: [String]
  ) {
    self.name = name
    self.condition = condition
    self.then = then
    self.otherwise = otherwise
    self.outputs = outputs
    self.captured = captured
  }

  package var sides: [Side] { [then, otherwise] }

  /// The slots around the branch that it reads, each once.
  package var inputs: [String] { [condition] + captured.filter { $0 != condition } }
}
