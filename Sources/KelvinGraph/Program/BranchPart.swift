/// A branch among a function's parts. Sizes inside are known once a side is selected, so that each side has its own
/// parts.
///
/// A side has its own slots, and may read the slots around the branch.
package struct BranchPart: Sendable {
  /// One of the two sides.
  package struct Side: Sendable {
    package let parts: [FunctionPart]
    /// The side's slots that hold the results of the branch, one for each.
    package let left: [String]

    package init(parts: [FunctionPart], left: [String]) {
      self.parts = parts
      self.left = left
    }
  }

  package let name: String
  /// The slot with one number that selects the side: `otherwise` if it is 0.
  package let condition: String
  package var then: Side
  package var otherwise: Side
  /// The slots around the branch that it writes.
  package let outputs: [String]
  /// The slots around the branch that the sides read.
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

  /// The slots around the branch that it reads, without duplicates.
  package var inputs: [String] { [condition] + captured.filter { $0 != condition } }
}
