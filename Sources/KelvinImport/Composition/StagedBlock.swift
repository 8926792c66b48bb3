import KelvinGraph

/// The properties of a loop's body or a branch's side that determine whether it can be a region of a graph.
package struct StagedBlock {
  /// The operations in topological order.
  package var operations: [StagedOperation]
  /// The constants of the block itself.
  package var constants: Set<String> = []
  package var outputs: [String]

  package init(operations: [StagedOperation], constants: Set<String> = [], outputs: [String]) {
    self.operations = operations
    self.constants = constants
    self.outputs = outputs
  }

  /// Returns the outer values that the block reads.
  ///
  /// - Parameter given: The block's inputs.
  package func captured(besides given: [String] = []) -> Set<String> {
    let own = constants.union(given).union(operations.flatMap(\.outputs))
    return Set(operations.flatMap(\.uses).map(\.name) + outputs).subtracting(own)
  }

  /// Whether the block would be split if it were a function: whether a size inside depends on values that are computed
  /// inside or passed in.
  ///
  /// - Parameters:
  ///   - given: The block's inputs.
  ///   - computed: Other values that the block reads and that are not known.
  ///   - known: The values that the block reads and that are computed from constants and shapes alone, constants
  ///     included.
  func isCut(given: [String] = [], computed: [String], known: Set<String>) -> Bool {
    var stages = SizeStages(operations, given + computed, outputs)
    stages.place(known)
    if stages.live.contains(where: { operations[$0].hasDataDependentShape }) { return true }
    let parts = stages.parts()
    return parts.count > 1 || parts.contains { $0.hostOperation != nil || !$0.valueDependent.isDisjoint(with: given) }
  }
}

/// An operation that can be separate parts: one with blocks, or one that only the host has code for.
package enum StagedControlFlow {
  case loop(StagedLoop)
  case branch(StagedBranch)
  case custom

  /// The greatest depth of analyzed blocks. Deeper ones are refused if sizes inside depend on data.
  package static let depthLimit = 16
  /// The depth that a loop counts for if its body is analyzed several times, so that four nested ones can run on the
  /// host: a loop that carries sequences, or whose condition has nested blocks.
  package static let repeatedDepth = 4

  /// Whether the control flow is a separate part of the function, as opposed to a node of a graph.
  ///
  /// - Parameter isKnown: Whether an outer value is computed from constants and shapes alone.
  func isHostExecuted(_ isKnown: (String) -> Bool) -> Bool {
    switch self {
    case .loop(let loop): loop.isHostExecuted(isKnown)
    case .branch(let branch): branch.isHostExecuted(isKnown)
    case .custom: true
    }
  }
}

/// The properties of a branch that determine whether it is a node of a graph or the host executes it. On the host, only
/// the taken side runs, in graphs specialized for the actual sizes.
package struct StagedBranch {
  package var condition: String
  package var sides: [StagedBlock]
  /// Whether the file shows that the sides produce values of different sizes.
  package var differs = false

  package init(condition: String, sides: [StagedBlock], differs: Bool = false) {
    self.condition = condition
    self.sides = sides
    self.differs = differs
  }

  func isHostExecuted(_ isKnown: (String) -> Bool) -> Bool {
    if differs, !isKnown(condition) { return true }
    return sides.contains { side in
      let captured = side.captured()
      let known = captured.filter(isKnown)
      return side.isCut(computed: captured.subtracting(known).sorted(), known: side.constants.union(known))
    }
  }
}

extension Set<String> {
  /// Whether the names of control flow to execute on the host include a given one, or the name that stands for all.
  package func containsControlFlow(_ name: String) -> Bool { contains(name) || contains(DynamicShapeControlFlow.every) }
}
