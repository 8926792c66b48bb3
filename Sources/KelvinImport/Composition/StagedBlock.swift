import KelvinGraph

/// A body of a loop or a side of a branch, as far as it decides whether it can be one region of a graph.
package struct StagedBlock {
  /// In an order in which each reads what comes before it.
  package var operations: [StagedOperation]
  /// Its own.
  package var constants: Set<String> = []
  package var outputs: [String]

  package init(operations: [StagedOperation], constants: Set<String> = [], outputs: [String]) {
    self.operations = operations
    self.constants = constants
    self.outputs = outputs
  }

  /// What it reads that is not its own.
  ///
  /// - Parameter given: its inputs.
  package func captured(besides given: [String] = []) -> Set<String> {
    let own = constants.union(given).union(operations.flatMap(\.outputs))
    return Set(operations.flatMap(\.uses).map(\.name) + outputs).subtracting(own)
  }

  /// Whether it would be cut, had it been a function: whether a size inside depends on what is computed there, or on what
  /// it is given.
  ///
  /// - Parameters:
  ///   - given: its inputs.
  ///   - computed: what else it reads that is not known.
  ///   - known: what it reads that is computed from constants and shapes alone, constants included.
  func isCut(given: [String] = [], computed: [String], known: Set<String>) -> Bool {
    var stages = SizeStages(operations, given + computed, outputs)
    stages.place(known)
    if stages.live.contains(where: { operations[$0].hasDataDependentShape }) { return true }
    let parts = stages.parts()
    return parts.count > 1 || parts.contains { $0.hostOperation != nil || !$0.valueDependent.isDisjoint(with: given) }
  }
}

/// What an operation with blocks is where each of them may be parts of its own.
package enum StagedControlFlow {
  case loop(StagedLoop)
  case branch(StagedBranch)

  /// How deep blocks of operations are looked into; deeper ones are refused where sizes inside depend on data.
  package static let depthLimit = 16
  /// What a loop counts for whose body is looked at several times, so that four deep are walked: one that carries sequences,
  /// and one whose condition has blocks of its own.
  package static let repeatedDepth = 4

  /// Whether it is a part of the function by itself, rather than a node of a graph.
  ///
  /// - Parameter isKnown: whether a value around it is computed from constants and shapes alone.
  func isHostExecuted(_ isKnown: (String) -> Bool) -> Bool {
    switch self {
    case .loop(let loop): loop.isHostExecuted(isKnown)
    case .branch(let branch): branch.isHostExecuted(isKnown)
    }
  }
}

/// The sides of a branch, as far as they decide whether the branch is one node of a graph or is walked: the side that is
/// taken has graphs for the sizes that it finds, and the other is not run.
package struct StagedBranch {
  package var condition: String
  package var sides: [StagedBlock]
  /// Whether the file shows that the sides leave values of different sizes.
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
  /// Whether these names of control flow that is walked (`Function.walking`) have one, or stand for all.
  package func containsControlFlow(_ name: String) -> Bool { contains(name) || contains(DynamicShapeControlFlow.every) }
}
