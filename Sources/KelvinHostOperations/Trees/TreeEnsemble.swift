/// Decision trees whose leaves vote for targets.
package struct TreeEnsemble: Hashable, Sendable {
  package enum Aggregate: Hashable, Sendable { case sum, average, least, largest }

  package let targetCount: Int
  package let aggregate: Aggregate
  /// Added to the aggregates: one number for each target.
  package let base: [Double]
  let forest: Forest

  package var treeCount: Int { forest.roots.count }
  /// Whether some branch sends a number that is none the way of those that pass.
  package var hasWaysForMissing: Bool { forest.nodes.contains { $0.form & Forest.Node.missingPasses != 0 } }
  /// A row has all the numbers that nodes look at.
  package var widths: ClosedRange<Int> { max(forest.featureCount, 1)...Int.max }

  /// - Parameters:
  ///   - nodes: of all trees; those that no root leads to are left out. A node may be the child of several, as where
  ///     converters write a set of categories as one question for each.
  ///   - roots: places among the nodes.
  ///   - votes: of the leaves, which name ranges of it.
  ///   - base: one number for each target, or none.
  /// - Precondition: there is a target, and ranges of leaves lie within the votes.
  /// - Throws: `TreeFault` where the nodes make no trees.
  package init(
    _ nodes: [TreeNode], roots: [Int], votes: [TreeVote], targetCount: Int, aggregate: Aggregate = .sum,
    base: [Double] = []
  ) throws(TreeFault) {
    precondition(targetCount > 0 && (base.isEmpty || base.count == targetCount))
    self.targetCount = targetCount
    self.aggregate = aggregate
    self.base = base.isEmpty ? [Double](repeating: 0, count: targetCount) : base
    forest = try Forest(nodes, roots: roots, votes: votes, targetCount: targetCount)
  }

  /// The aggregate of every target for each row, and whether any leaf voted for it. A target without votes has its base.
  package func evaluate(_ rows: NumberRows) -> (values: [Double], isVoted: [Bool]) {
    let start = aggregate == .least ? Double.infinity : aggregate == .largest ? -Double.infinity : 0
    var values = [Double](repeating: start, count: rows.count * targetCount)
    var isVoted = [Bool](repeating: false, count: values.count)
    values.withUnsafeMutableBufferPointer { values in
      isVoted.withUnsafeMutableBufferPointer { isVoted in
        switch aggregate {
        case .sum, .average: forest.vote(rows, targetCount, values, isVoted) { $0 + $1 }
        case .least: forest.vote(rows, targetCount, values, isVoted) { min($0, $1) }
        case .largest: forest.vote(rows, targetCount, values, isVoted) { max($0, $1) }
        }
      }
    }
    let divisor = aggregate == .average ? Double(max(treeCount, 1)) : 1
    for index in values.indices {
      values[index] = (isVoted[index] ? values[index] / divisor : 0) + base[index % targetCount]
    }
    return (values, isVoted)
  }
}

/// A node of a tree as formats describe it.
package enum TreeNode: Hashable, Sendable {
  /// `missingIsTrue` says which child a number that is none leads to.
  case branch(feature: Int, test: TreeTest, missingIsTrue: Bool, ifTrue: Int, ifFalse: Int)
  case leaf(votes: Range<Int>)
}

/// What a branch asks of a number.
package enum TreeTest: Hashable, Sendable {
  case atMost(Double)
  case below(Double)
  case atLeast(Double)
  case above(Double)
  case equal(Double)
  case unequal(Double)
  case member(of: [Double])
}

/// What a leaf adds to a target.
package struct TreeVote: Hashable, Sendable {
  package var target: Int
  package var weight: Double

  package init(_ target: Int, _ weight: Double) {
    self.target = target
    self.weight = weight
  }
}

/// Why nodes make no trees. Nodes go by their places.
package enum TreeFault: Error, Hashable, Sendable {
  case noSuchChild(Int, of: Int)
  case noSuchRoot(Int)
  case aboveItself(Int)
  case noSuchFeature(Int, at: Int)
  case noSuchTarget(Int, at: Int)
}
